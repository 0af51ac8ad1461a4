<?php
/**
 * Plugin Name: Rollcall for WooCommerce
 * Description: Remembers which creator's link led a customer to your shop, and adds it to the order, so that the creator is paid.
 * Version: 1.1.0
 * Requires at least: 6.1
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 7.2
 * Author: Rollcall
 * Text Domain: rollcall
 */

namespace Rollcall;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// Filled in when the plugin is downloaded for a store.
const LINKS_URL   = '{{links_url}}';
const WEBHOOK_URL = '{{webhook_url}}';

const COOKIE  = 'rollcall_click';
const META    = '_click_id';
const SETTING = 'rollcall_consent';

/** A click id: when its window ends stands between the dot and the signature, as a minute in base 36. */
const CLICK = '/^clk_[0-9A-Za-z_]{24,60}\.([0-9a-z]{5})[0-9A-Za-z_-]{16}$/D';

/** Clicks that are kept of a visitor. */
const MOST = 5;

/** Seconds until the click no longer counts; 0 for anything else. */
function seconds_left( $click ) {
	if ( ! is_string( $click ) || ! preg_match( CLICK, $click, $found ) ) {
		return 0;
	}
	return max( 0, min( intval( $found[1], 36 ) * 60 - time(), 90 * DAY_IN_SECONDS ) );
}

/** Whether the visitor agreed, as far as PHP can know. Where the shop's own banner decides, only the script knows. */
function may_keep() {
	if ( 'wait' === get_option( SETTING, 'auto' ) ) {
		return false;
	}
	return ! function_exists( 'wp_has_consent' ) || wp_has_consent( 'marketing' );
}

/** The clicks of a text that still count, in their order: each begins with `clk_`, after a dot. */
function clicks_of( $text ) {
	if ( ! is_string( $text ) || strlen( $text ) > 1000 ) {
		return array();
	}
	$clicks = array_filter( preg_split( '/\.(?=clk_)/', $text ), __NAMESPACE__ . '\seconds_left' );
	return array_slice( array_values( array_unique( $clicks ) ), -MOST );
}

/** Keeps clicks for as long as their links say. A cookie of the server outlives one that a script sets. */
function keep( $clicks ) {
	if ( ! $clicks || headers_sent() ) {
		return false;
	}
	$seconds = max( array_map( __NAMESPACE__ . '\seconds_left', $clicks ) );
	setcookie(
		COOKIE,
		implode( '.', $clicks ),
		array(
			'expires'  => time() + $seconds,
			'path'     => '/',
			'secure'   => is_ssl(),
			// The script reads it.
			'httponly' => false,
			'samesite' => 'Lax',
		)
	);
	return true;
}

/** The clicks that are kept for this visitor, the last one at the end. */
function kept_clicks() {
	return isset( $_COOKIE[ COOKIE ] ) ? clicks_of( wp_unslash( $_COOKIE[ COOKIE ] ) ) : array();
}

/** The clicks that Rollcall gave out; null if it does not answer. Anyone can write one into an address. */
function genuine_of( $clicks ) {
	$answer = wp_remote_get( LINKS_URL . '/r.js?v=1&genuine=' . implode( '.', $clicks ), array( 'timeout' => 2 ) );
	if ( is_wp_error( $answer ) || 200 !== (int) wp_remote_retrieve_response_code( $answer ) ) {
		return null;
	}
	return clicks_of( wp_remote_retrieve_body( $answer ) );
}

/** On the page that a creator's link leads to. A page cache may answer in our place: then the script does this. */
function on_landing() {
	if ( ! isset( $_GET['click_id'] ) || ! may_keep() ) {
		return;
	}
	$carried = array_slice( clicks_of( wp_unslash( $_GET['click_id'] ) ), 0, 1 );
	$kept    = kept_clicks();
	if ( ! $carried || in_array( $carried[0], $kept, true ) ) {
		return;
	}
	$clicks = array_merge( $kept, $carried );
	// Where one would take the place of another, only the genuine ones stay.
	keep( count( $clicks ) > MOST ? genuine_of( $clicks ) : $clicks );
}
add_action( 'template_redirect', __NAMESPACE__ . '\on_landing', 1 );

/** The script calls this with the clicks that it has, after the visitor agreed. */
function on_script( $request ) {
	nocache_headers();
	return array( 'kept' => keep( clicks_of( $request['click_id'] ) ) );
}

add_action(
	'rest_api_init',
	function () {
		register_rest_route(
			'rollcall/v1',
			'/click',
			array(
				'methods'             => 'POST',
				'callback'            => __NAMESPACE__ . '\on_script',
				// It sets a cookie that the visitor could set anyway.
				'permission_callback' => '__return_true',
			)
		);
	}
);

add_action(
	'wp_enqueue_scripts',
	function () {
		wp_enqueue_script( 'rollcall', LINKS_URL . '/r.js?v=1', array(), null, true );
	}
);

/** The settings of the script, as attributes of its tag. */
function with_attributes( $tag, $handle ) {
	if ( 'rollcall' !== $handle ) {
		return $tag;
	}
	// The page does not wait for it.
	$attributes = ' async data-keep="' . esc_url( rest_url( 'rollcall/v1/click' ) ) . '"';
	if ( 'wait' === get_option( SETTING, 'auto' ) ) {
		$attributes .= ' data-consent="wait"';
	}
	return str_replace( ' src=', $attributes . ' src=', $tag );
}
add_filter( 'script_loader_tag', __NAMESPACE__ . '\with_attributes', 10, 2 );

/** Adds the clicks to an order. A renewal of a subscription comes from no click. */
function add_click( $order ) {
	if ( function_exists( 'wcs_order_contains_renewal' ) && wcs_order_contains_renewal( $order ) ) {
		return;
	}
	$clicks = kept_clicks();
	if ( $clicks ) {
		$order->update_meta_data( META, implode( '.', $clicks ) );
	}
}

// The classic checkout saves the order itself; that of blocks has saved it already.
add_action( 'woocommerce_checkout_create_order', __NAMESPACE__ . '\add_click' );
add_action(
	'woocommerce_store_api_checkout_update_order_meta',
	function ( $order ) {
		add_click( $order );
		$order->save();
	}
);

/** WooCommerce Subscriptions copies an order's data to the subscription and to each renewal. */
function without_click( $data ) {
	unset( $data[ META ] );
	return $data;
}
add_filter( 'wc_subscriptions_object_data', __NAMESPACE__ . '\without_click' );

// Orders in tables of their own, and the cart and checkout of blocks.
add_action(
	'before_woocommerce_init',
	function () {
		if ( class_exists( \Automattic\WooCommerce\Utilities\FeaturesUtil::class ) ) {
			foreach ( array( 'custom_order_tables', 'cart_checkout_blocks' ) as $feature ) {
				\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( $feature, __FILE__, true );
			}
		}
	}
);

/** The webhook of this store that leads to Rollcall: its secret signs what the plugin asks. Null if there is none. */
function own_webhook() {
	foreach ( \WC_Data_Store::load( 'webhook' )->search_webhooks( array( 'limit' => -1, 'status' => 'active' ) ) as $id ) {
		$webhook = wc_get_webhook( $id );
		if ( $webhook && WEBHOOK_URL === $webhook->get_delivery_url() ) {
			return $webhook;
		}
	}
	return null;
}

/** Passes on what a person asks for. Answers what Rollcall says, or null if it did not take it. */
function ask_for( $topic, $email ) {
	$webhook = own_webhook();
	if ( ! $webhook ) {
		return null;
	}
	$body   = wp_json_encode( array( 'email' => $email ) );
	$answer = wp_remote_post(
		WEBHOOK_URL,
		array(
			'timeout' => 30,
			'headers' => array(
				'content-type'           => 'application/json',
				'x-wc-webhook-topic'     => $topic,
				'x-wc-webhook-signature' => $webhook->generate_signature( $body ),
			),
			'body'    => $body,
		)
	);
	if ( is_wp_error( $answer ) || 200 !== (int) wp_remote_retrieve_response_code( $answer ) ) {
		return null;
	}
	return json_decode( wp_remote_retrieve_body( $answer ), true );
}

const NOT_ASKED = 'Rollcall could not be asked. See WooCommerce, Rollcall, "Test connection", and try again.';

/** For "Erase Personal Data" in WordPress: Rollcall erases the address from every order within a minute. */
function erase_person( $email, $page = 1 ) {
	$is_taken = null !== ask_for( 'action.rollcall_erase', $email );
	return array(
		'items_removed'  => $is_taken,
		'items_retained' => ! $is_taken,
		'messages'       => array( $is_taken ? 'Rollcall erases this address from its orders within a minute. Amounts stay, without a name.' : NOT_ASKED ),
		'done'           => true,
	);
}

/** For "Export Personal Data" in WordPress: the orders of the address, as Rollcall keeps them. */
function export_person( $email, $page = 1 ) {
	$answer = ask_for( 'action.rollcall_export', $email );
	$items  = is_array( $answer ) && isset( $answer['data'] ) ? $answer['data'] : array(
		array(
			'group_id'    => 'rollcall',
			'group_label' => 'Rollcall',
			'item_id'     => 'rollcall-unreachable',
			'data'        => array( array( 'name' => 'Not exported', 'value' => NOT_ASKED ) ),
		),
	);
	return array( 'data' => $items, 'done' => true );
}

add_filter(
	'wp_privacy_personal_data_erasers',
	function ( $erasers ) {
		$erasers['rollcall'] = array( 'eraser_friendly_name' => 'Rollcall', 'callback' => __NAMESPACE__ . '\erase_person' );
		return $erasers;
	}
);
add_filter(
	'wp_privacy_personal_data_exporters',
	function ( $exporters ) {
		$exporters['rollcall'] = array( 'exporter_friendly_name' => 'Rollcall', 'callback' => __NAMESPACE__ . '\export_person' );
		return $exporters;
	}
);

/** Asks Rollcall for the script, and whether it knows this store. Answers a line for each, and whether it is well. */
function test_connection() {
	$script = wp_remote_get( LINKS_URL . '/r.js?v=1', array( 'timeout' => 8 ) );
	// What WooCommerce sends to a webhook's address when it is saved.
	$ping = wp_remote_post(
		WEBHOOK_URL,
		array(
			'timeout' => 8,
			'headers' => array( 'content-type' => 'application/x-www-form-urlencoded' ),
			'body'    => 'webhook_id=1',
		)
	);
	return array(
		result_of( $script, 'The script can be loaded.', 'The script cannot be loaded' ),
		result_of( $ping, 'Rollcall knows this store.', 'Rollcall does not know this store. Connect it, then download the plugin again' ),
	);
}

function result_of( $answer, $good, $bad ) {
	if ( is_wp_error( $answer ) ) {
		return array( false, 'Rollcall cannot be reached: ' . $answer->get_error_message() );
	}
	$status = (int) wp_remote_retrieve_response_code( $answer );
	return 200 === $status ? array( true, $good ) : array( false, "$bad: the answer is $status." );
}

function show_settings() {
	echo '<div class="wrap"><h1>Rollcall</h1>';
	if ( isset( $_POST['rollcall_test'] ) ) {
		check_admin_referer( 'rollcall_test' );
		foreach ( test_connection() as list( $is_good, $text ) ) {
			echo '<div class="notice notice-' . ( $is_good ? 'success' : 'error' ) . '"><p>' . esc_html( $text ) . '</p></div>';
		}
	}
	echo '<p>Visits by creators&#8217; links are kept for as long as each link says, and added to orders.</p>';
	echo '<p>Connected to <code>' . esc_html( LINKS_URL ) . '</code>. Webhooks of this store go to <code>' . esc_html( WEBHOOK_URL ) . '</code>.</p>';

	echo '<form method="post" action="options.php">';
	settings_fields( 'rollcall' );
	echo '<h2>Consent</h2>';
	$choices = array(
		'auto' => 'Keep visits, and follow the WP Consent API where a plugin offers it',
		'wait' => 'Keep a visit only after the consent banner has called rollcall.allow()',
	);
	foreach ( $choices as $value => $label ) {
		echo '<p><label><input type="radio" name="' . esc_attr( SETTING ) . '" value="' . esc_attr( $value ) . '"'
			. checked( get_option( SETTING, 'auto' ), $value, false ) . '> ' . esc_html( $label ) . '</label></p>';
	}
	submit_button();
	echo '</form>';

	echo '<form method="post"><h2>Connection</h2>';
	wp_nonce_field( 'rollcall_test' );
	submit_button( 'Test connection', 'secondary', 'rollcall_test' );
	echo '</form></div>';
}

add_action(
	'admin_menu',
	function () {
		add_submenu_page( 'woocommerce', 'Rollcall', 'Rollcall', 'manage_woocommerce', 'rollcall', __NAMESPACE__ . '\show_settings' );
	}
);

/** Anything but the two choices is the usual one. */
function consent_setting( $value ) {
	return 'wait' === $value ? 'wait' : 'auto';
}

add_action(
	'admin_init',
	function () {
		register_setting( 'rollcall', SETTING, array( 'type' => 'string', 'default' => 'auto', 'sanitize_callback' => __NAMESPACE__ . '\consent_setting' ) );
	}
);

add_filter(
	'option_page_capability_rollcall',
	function () {
		return 'manage_woocommerce';
	}
);
