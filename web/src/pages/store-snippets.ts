/** What a theme needs, to keep the click that led a customer to the shop and to hand it back with the order. */
const SHOPIFY = `<script>
  // Keeps the click that led here, and hands it back as an attribute of the order.
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

const WOOCOMMERCE = `// Keeps the click that led here, and hands it back with the order.
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
// The classic checkout, and the one made of blocks.
add_action( 'woocommerce_checkout_create_order', 'keep_click_id' );
add_action( 'woocommerce_store_api_checkout_update_order_meta', function ( $order ) {
	keep_click_id( $order );
	$order->save();
} );
`;

export const PROVIDERS = ['shopify', 'woocommerce', 'generic'] as const;
export type Provider = (typeof PROVIDERS)[number];

interface HowTo {
  label: string;
  url: string;
  /** What the store gives, before it can be connected. */
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
      'Made in Shopify for an app of your own, with read_discounts and read_orders; with read_all_orders, refunds of orders older than 60 days are read too.',
    webhookSecret: 'Shopify shows it under Settings, Notifications, Webhooks.',
    webhooks: 'orders/create, orders/paid, orders/updated, orders/cancelled, orders/delete, refunds/create',
    where: 'In the theme’s code, in layout/theme.liquid, just before </body>.',
    snippet: SHOPIFY,
  },
  woocommerce: {
    label: 'WooCommerce',
    url: 'https://shop.example',
    token: 'A REST API key that may read, made under WooCommerce, Settings, Advanced: consumer key:consumer secret.',
    webhookSecret: 'Choose a long one, and enter the same in each webhook in WooCommerce.',
    webhooks: 'order.created, order.updated, order.deleted, order.restored',
    where: 'At the end of functions.php of your child theme, or in a plug-in for code snippets.',
    snippet: WOOCOMMERCE,
  },
  generic: {
    label: 'Another',
    url: 'https://store.example',
    token: 'Agree on one with whoever runs the store; docs/stores.md has the protocol.',
    webhookSecret: 'Agree on one with whoever runs the store, who signs with it.',
    webhooks: 'order.created, order.paid, order.updated, order.cancelled, order.refunded',
    where: 'Your shop keeps click_id of the landing page’s address, and sends it with the order in click_ids.',
    snippet: undefined,
  },
};
