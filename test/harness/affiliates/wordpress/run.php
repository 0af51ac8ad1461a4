<?php
/**
 * Runs the plugin beside stand-ins of the WordPress and WooCommerce functions that it calls.
 * Reads a scenario as JSON (get, cookie, options, consent, act), and prints what happened as JSON.
 */

namespace {
	define( 'ABSPATH', '/' );
	define( 'DAY_IN_SECONDS', 86400 );
	error_reporting( E_ALL );
	set_error_handler(
		function ( $level, $text ) {
			throw new ErrorException( $text );
		}
	);

	$plugin   = $argv[1];
	$scenario = json_decode( $argv[2], true ) + array( 'get' => array(), 'cookie' => array(), 'options' => array(), 'act' => array(), 'web' => array() );
	$hooks    = array();
	$happened = array( 'cookies' => array(), 'compatible' => array(), 'routes' => array(), 'scripts' => array(), 'saved' => 0, 'html' => '', 'requests' => array() );
	$_GET     = $scenario['get'];
	$_COOKIE  = $scenario['cookie'];
	$_POST    = $scenario['post'] ?? array();

	function add_action( $name, $callback, $priority = 10 ) {
		global $hooks;
		$hooks[ $name ][] = $callback;
	}
	function add_filter( $name, $callback, $priority = 10, $arguments = 1 ) {
		add_action( $name, $callback, $priority );
	}
	function run_hook( $name, ...$values ) {
		global $hooks;
		foreach ( $hooks[ $name ] ?? array() as $callback ) {
			$values[0] = $callback( ...$values ) ?? $values[0] ?? null;
		}
		return $values[0] ?? null;
	}
	function get_option( $name, $default = false ) {
		global $scenario;
		return $scenario['options'][ $name ] ?? $default;
	}
	function register_setting( $group, $name, $how ) {
		global $happened;
		$happened['settings'][ $name ] = array_map( $how['sanitize_callback'], array( 'wait', 'auto', 'other' ) );
	}
	// WordPress adds slashes to what a visitor sends.
	function wp_unslash( $value ) {
		return is_string( $value ) ? stripslashes( $value ) : $value;
	}
	function is_ssl() {
		return true;
	}
	function register_rest_route( $space, $path, $how ) {
		global $happened;
		$happened['routes'][ "$space$path" ] = $how['methods'];
		add_action( "rest $space$path", $how['callback'] );
	}
	function rest_url( $path ) {
		return "https://shop.example/wp-json/$path";
	}
	function nocache_headers() {}
	function esc_url( $text ) {
		return htmlspecialchars( $text );
	}
	function esc_html( $text ) {
		return htmlspecialchars( $text );
	}
	function esc_attr( $text ) {
		return htmlspecialchars( $text );
	}
	function checked( $value, $other, $echo ) {
		return $value === $other ? ' checked' : '';
	}
	function wp_enqueue_script( $name, $url, $needs, $version, $in_footer ) {
		global $happened;
		$happened['scripts'][] = array( 'url' => $url, 'tag' => run_hook( 'script_loader_tag', "<script src=\"$url\"></script>", $name ) );
	}
	function submit_button( $text = 'Save', $kind = 'primary', $name = 'submit' ) {
		echo "<button name=\"$name\">$text</button>";
	}
	function settings_fields( $group ) {}
	function wp_nonce_field( $name ) {}
	function check_admin_referer( $name ) {}
	function add_submenu_page( $parent, $title, $label, $capability, $slug, $show ) {
		global $happened;
		ob_start();
		$show();
		$happened['html'] = ob_get_clean();
	}
	class WP_Error {
		public function get_error_message() {
			return 'no route';
		}
	}
	function is_wp_error( $value ) {
		return $value instanceof WP_Error;
	}
	function request( $method, $url, $how ) {
		$context = array( 'method' => $method, 'ignore_errors' => true, 'content' => $how['body'] ?? '' );
		foreach ( $how['headers'] ?? array() as $name => $value ) {
			$context['header'][] = "$name: $value";
		}
		try {
			$body = file_get_contents( $url, false, stream_context_create( array( 'http' => $context ) ) );
		} catch ( ErrorException $error ) {
			return new WP_Error();
		}
		return array( 'status' => (int) explode( ' ', $http_response_header[0] )[1], 'body' => $body );
	}
	function wp_remote_get( $url, $how ) {
		return request( 'GET', $url, $how );
	}
	function wp_remote_post( $url, $how ) {
		return request( 'POST', $url, $how );
	}
	function wp_remote_retrieve_response_code( $answer ) {
		return $answer['status'];
	}
	function wp_remote_retrieve_body( $answer ) {
		return $answer['body'];
	}
	function wp_json_encode( $value ) {
		return json_encode( $value );
	}
	// As WooCommerce has them: webhooks by their ids, each of which signs with its own secret.
	class WC_Data_Store {
		public static function load( $kind ) {
			return new WC_Data_Store();
		}
		public function search_webhooks( $how ) {
			global $scenario;
			return array_keys( $scenario['webhooks'] ?? array() );
		}
	}
	class WC_Webhook {
		private $of;
		public function __construct( $of ) {
			$this->of = $of;
		}
		public function get_delivery_url() {
			return $this->of['url'];
		}
		public function generate_signature( $payload ) {
			return base64_encode( hash_hmac( 'sha256', $payload, wp_specialchars_decode( $this->of['secret'] ), true ) );
		}
	}
	function wp_specialchars_decode( $text ) {
		return htmlspecialchars_decode( $text );
	}
	function wc_get_webhook( $id ) {
		global $scenario;
		return new WC_Webhook( $scenario['webhooks'][ $id ] );
	}
	if ( isset( $scenario['consent'] ) ) {
		function wp_has_consent( $kind ) {
			global $scenario;
			return 'marketing' === $kind && $scenario['consent'];
		}
	}
	if ( isset( $scenario['renewal'] ) ) {
		function wcs_order_contains_renewal( $order ) {
			global $scenario;
			return $scenario['renewal'];
		}
	}
	class Order {
		public $meta = array();
		public function update_meta_data( $name, $value ) {
			$this->meta[ $name ] = $value;
		}
		public function save() {
			global $happened;
			$happened['saved'] += 1;
		}
	}
}

namespace Automattic\WooCommerce\Utilities {
	class FeaturesUtil {
		public static function declare_compatibility( $feature, $file, $is_compatible ) {
			global $happened;
			$happened['compatible'][ $feature ] = $is_compatible;
		}
	}
}

// The plugin's own namespace is looked up first.
namespace Rollcall {
	function headers_sent() {
		return false;
	}
	function setcookie( $name, $value, $how ) {
		global $happened;
		$happened['cookies'][] = compact( 'name', 'value' ) + $how;
	}
}

namespace {
	require $plugin;
	foreach ( $scenario['act'] as $name ) {
		if ( 'checkout' === $name || 'blocks' === $name ) {
			$order = new Order();
			run_hook( 'checkout' === $name ? 'woocommerce_checkout_create_order' : 'woocommerce_store_api_checkout_update_order_meta', $order );
			$happened['meta'] = (object) $order->meta;
		} elseif ( 'renewal' === $name ) {
			$happened['copied'] = run_hook( 'wc_subscriptions_object_data', array( '_click_id' => 'clk_1', '_billing_email' => 'a@b.example' ), null, null, 'renewal_order' );
		} elseif ( 'erase' === $name || 'export' === $name ) {
			$tool = run_hook( 'wp_privacy_personal_data_' . ( 'erase' === $name ? 'erasers' : 'exporters' ), array() )['rollcall'];
			$happened[ $name ] = call_user_func( $tool['callback'], $scenario['email'], 1 );
		} elseif ( 'script' === $name ) {
			$happened['kept'] = run_hook( 'rest rollcall/v1/click', $scenario['web'] );
		} else {
			run_hook( $name );
		}
	}
	echo json_encode( $happened );
}
