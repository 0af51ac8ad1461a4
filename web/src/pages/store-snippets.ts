import type { Row } from '../call/call.ts';
import { everyOf } from '../kit/every.ts';

/** Code for a theme: it stores the click that led a customer to the shop and adds it to the order. */
const SHOPIFY = `<script>
  // Stores the click that led here, and adds it to the order as an attribute.
  (function () {
    var id = new URLSearchParams(location.search).get('click_id');
    if (id) {
      document.cookie = 'click_id=' + encodeURIComponent(id) + '; path=/; max-age=2592000; SameSite=Lax; Secure';
    }
    var kept = /(?:^|; )click_id=([^;]+)/.exec(document.cookie);
    id = id || (kept && decodeURIComponent(kept[1]));
    if (!id) return;
    var root = (window.Shopify && Shopify.routes && Shopify.routes.root) || '/';
    fetch(root + 'cart.js')
      .then(function (answer) { return answer.json(); })
      .then(function (cart) {
        if (cart.attributes && cart.attributes.click_id === id) return;
        return fetch(root + 'cart/update.js', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ attributes: { click_id: id } })
        });
      });
  })();
</script>
`;

const WOOCOMMERCE = `// Stores the click that led here, and adds it to the order.
add_action( 'template_redirect', function () {
	if ( isset( $_GET['click_id'] ) && is_string( $_GET['click_id'] ) && ! headers_sent() ) {
		setcookie( 'click_id', sanitize_text_field( wp_unslash( $_GET['click_id'] ) ), array(
			'expires'  => time() + 30 * DAY_IN_SECONDS,
			'path'     => '/',
			'secure'   => is_ssl(),
			'httponly' => true,
			'samesite' => 'Lax',
		) );
	}
} );

function keep_click_id( $order ) {
	if ( isset( $_COOKIE['click_id'] ) && is_string( $_COOKIE['click_id'] ) ) {
		$order->update_meta_data( 'click_id', substr( sanitize_text_field( wp_unslash( $_COOKIE['click_id'] ) ), 0, 500 ) );
	}
}
// The classic checkout and the block checkout.
add_action( 'woocommerce_checkout_create_order', 'keep_click_id' );
add_action( 'woocommerce_store_api_checkout_update_order_meta', function ( $order ) {
	keep_click_id( $order );
	$order->save();
} );
`;

export type Provider = Row<'list_affiliate_stores'>['provider'];
export const PROVIDERS = everyOf<Provider>()(['shopify', 'woocommerce', 'generic']);

interface HowTo {
  label: string;
  url: string;
  /** Where to find the access token in the store. */
  token: string;
  webhookSecret: string;
  webhooks: string;
  where: string;
  snippet: string | undefined;
}

export const HOW: Readonly<Record<Provider, HowTo>> = {
  shopify: {
    label: 'Shopify',
    url: 'https://name.myshopify.com',
    token:
      'From a custom app in Shopify with the scopes read_discounts and read_orders. Add read_all_orders to read refunds of orders older than 60 days.',
    webhookSecret: 'In Shopify, under Settings, Notifications, Webhooks.',
    webhooks: 'orders/create, orders/paid, orders/updated, orders/cancelled, orders/delete, refunds/create',
    where: 'Add this to layout/theme.liquid in the theme’s code, just before </body>.',
    snippet: SHOPIFY,
  },
  woocommerce: {
    label: 'WooCommerce',
    url: 'https://shop.example',
    token:
      'A REST API key with read access, from WooCommerce, Settings, Advanced. Enter it as consumer key:consumer secret.',
    webhookSecret: 'Choose a long secret, and enter the same one in each webhook in WooCommerce.',
    webhooks: 'order.created, order.updated, order.deleted, order.restored',
    where: 'Add this to the end of your child theme’s functions.php, or to a code snippets plug-in.',
    snippet: WOOCOMMERCE,
  },
  generic: {
    label: 'Other',
    url: 'https://store.example',
    token: 'Agree on one with the store’s developers. The protocol is in docs/stores.md.',
    webhookSecret: 'Agree on one with the store’s developers, who sign webhooks with it.',
    webhooks: 'order.created, order.paid, order.updated, order.cancelled, order.refunded',
    where: 'Your shop stores click_id from the landing page’s address and sends it with the order in click_ids.',
    snippet: undefined,
  },
};
