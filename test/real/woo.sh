#!/usr/bin/env bash
# Checks the plugin in a real WooCommerce store, for an owner of a development store. Run it where WP-CLI reaches the store:
#   LINK=https://links.example/r/ana test/real/woo.sh rollcall-for-woocommerce.zip [--path=/var/www/html]
# LINK is a tracked link that leads to the store. Each step passes, or fails and says what to do. It leaves the plugin active.
set -uo pipefail

if [[ $# -lt 1 || -z ${LINK:-} ]]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
zip=$1
shift
options=("$@")
# A pipe that is closed early is a failure here, so grep reads all.
readonly AGENT='Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36'
failed=0

wordpress() {
  wp "${options[@]}" "$@"
}

# step WHAT FIX COMMAND...
step() {
  local what=$1 fix=$2
  shift 2
  if "$@"; then
    echo "passed  ${what}"
  else
    echo "FAILED  ${what}: ${fix}"
    failed=$((failed + 1))
  fi
}

has_one_file() {
  [[ $(unzip -Z1 "$zip") == rollcall-for-woocommerce/rollcall.php ]]
}
installs() {
  wordpress plugin install "$zip" --force --activate --quiet
}
redirects() {
  landing=$(curl -s -o /dev/null -A "$AGENT" -w '%{redirect_url}' "$LINK")
  click=${landing##*click_id=}
  [[ ${click} == clk_*.* ]]
}
sets_cookie() {
  curl -si -A "$AGENT" "${landing}&nocache=${RANDOM}" | grep -i "^set-cookie: rollcall_click=${click}" >/dev/null
}
has_script() {
  curl -s -A "$AGENT" "$landing" | grep '/r.js?v=1' >/dev/null
}
keeps_by_script() {
  local url
  url=$(wordpress eval 'echo rest_url( "rollcall/v1/click" );')
  curl -si -A "$AGENT" -d "click_id=${click}" "$url" |
    grep -i "^set-cookie: rollcall_click=${click}" >/dev/null
}
adds_to_order() {
  wordpress eval "
    \$_COOKIE['rollcall_click'] = '${click}';
    \$order = new WC_Order();
    do_action( 'woocommerce_checkout_create_order', \$order, array() );
    exit( \$order->get_meta( '_click_id' ) === '${click}' ? 0 : 1 );" >/dev/null 2>&1
}
is_compatible() {
  wordpress eval '
    $features = \Automattic\WooCommerce\Utilities\FeaturesUtil::get_compatible_features_for_plugin( "rollcall-for-woocommerce/rollcall.php" );
    exit( array_diff( array( "custom_order_tables", "cart_checkout_blocks" ), $features["compatible"] ) ? 1 : 0 );' >/dev/null 2>&1
}
is_connected() {
  wordpress eval '
    foreach ( \Rollcall\test_connection() as list( $is_good, $text ) ) {
      echo "        $text\n";
      $is_good || exit( 1 );
    }'
}

step 'the file is the plugin' 'Download it again under Stores, Set up.' has_one_file
step 'WordPress installs and activates it' 'Activate WooCommerce first.' installs
step 'WooCommerce counts it as compatible' 'Update WooCommerce to 7.2 or newer.' is_compatible
step 'Rollcall is reached, and knows the store' 'Connect the store, then download the plugin again.' is_connected
step 'the link leads here with a click' 'Set LINK to an active link whose destination is this store.' redirects
step 'the landing page sets the cookie' 'A page cache answered. The script then sets it: see the next steps.' sets_cookie
step 'the page includes the script' 'A plugin removes scripts of other hosts. Allow r.js there.' has_script
step 'the script can have the cookie set' 'A security plugin blocks the REST API. Allow rollcall/v1/click there.' keeps_by_script
step 'an order gets the click' 'Another plugin replaces the checkout. Send us its name.' adds_to_order

echo "$((9 - failed)) passed, ${failed} failed"
[[ ${failed} == 0 ]]
