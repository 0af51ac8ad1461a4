// Keeps the click that led a visitor to this shop, so that an order can name it. A shop includes it as
//   <script src="https://LINKS/r.js?v=1" async></script>
// It is served without comments and indentation, at most 1,000 bytes compressed (test/stores/shop-script.test.ts).
((window, document) => {
  const { consent, keep } = document.currentScript?.dataset ?? {};
  const { Shopify } = window;
  let isAllowed = consent !== 'wait';

  // A click id says in which minute, in base 36, its link's window ends. It is signed: one that was changed to last longer
  // pays nobody.
  const secondsLeft = (id) => Number.parseInt(/^clk_\w+\.(\w{5})/.exec(id)?.[1] ?? '', 36) * 60 - Date.now() / 1e3;

  const setCookie = (value, seconds) => {
    const secure = location.protocol > 'http:' ? ';secure' : '';
    document.cookie = `rollcall_click=${value};path=/;max-age=${seconds};samesite=lax${secure}`;
  };

  // Shopify's consent API once it is loaded, WordPress's, or the shop's own word.
  const mayKeep = () =>
    isAllowed &&
    (Shopify?.loadFeatures
      ? Shopify.customerPrivacy?.marketingAllowed()
      : (window.wp_has_consent?.('marketing') ?? true));

  const post = (url, body) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }).catch(
      () => {},
    );

  // A cart that was just begun has no attributes, so every page looks.
  const fillCart = async (click_id) => {
    const { attributes } = await (await fetch('/cart.js')).json();
    if (attributes.click_id !== click_id) post('/cart/update.js', { attributes: { click_id } });
  };

  const run = () => {
    const kept = /rollcall_click=([^;]+)/.exec(document.cookie)?.[1];
    const carried = new URLSearchParams(location.search).get('click_id');
    const click = mayKeep() ? [carried, kept].find((id) => secondsLeft(id) > 0) : undefined;
    rollcall.click = click;
    if (!click) return kept && setCookie('', 0);
    // `data-keep` names a page of the shop that sets the cookie. WebKit keeps a server's cookie longer than a script's, so
    // the script does not replace it.
    if (!keep || click !== kept) setCookie(click, Math.ceil(Math.min(secondsLeft(click), 7776e3)));
    if (keep && click !== kept) post(keep, { click_id: click });
    if (Shopify) fillCart(click).catch(() => {});
  };

  const rollcall = {
    allow(yes = true) {
      isAllowed = yes;
      run();
    },
  };
  window.rollcall = rollcall;
  document.addEventListener('visitorConsentCollected', run);
  document.addEventListener('wp_listen_for_consent_change', run);
  if (Shopify?.loadFeatures) Shopify.loadFeatures([{ name: 'consent-tracking-api', version: '0.1' }], run);
  else run();
})(window, document);
