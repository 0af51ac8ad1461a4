// Keeps the last five clicks that led a visitor to this shop, so that an order can name them. A shop includes it as
//   <script src="https://LINKS/r.js?v=1" async></script>
// It is served minified, as r.min.js: at most 1,000 bytes compressed (test/affiliates/stores/shop-script.test.ts).
(() => {
  const { dataset, src } = document.currentScript ?? { dataset: {} };
  let isAllowed = dataset.consent !== 'wait';
  let Shopify;

  // A click id says in which minute, in base 36, its link's window ends. It is signed: one that was changed to last longer
  // pays nobody. Nothing longer is kept, so that five of them fit where orders carry them.
  const secondsLeft = (id) =>
    Number.parseInt(/^clk_\w{24,60}\.(\w{5})[\w-]{16}$/.exec(id)?.[1] ?? '', 36) * 60 - Date.now() / 1e3;

  // Ids stand in the order of their visits; which of the genuine ones counts is decided by their times.
  const split = (text = '') => text.split(/\.(?=clk_)/).filter((id) => secondsLeft(id) > 0);

  const setCookie = (value, seconds) => {
    const secure = location.protocol > 'http:' ? ';secure' : '';
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
    document.cookie = `rollcall_click=${value};path=/;max-age=${seconds};samesite=lax${secure}`;
  };

  // Shopify's consent API once it is loaded, WordPress's, or the shop's own word.
  const mayKeep = () =>
    isAllowed &&
    (Shopify?.loadFeatures
      ? Shopify.customerPrivacy?.marketingAllowed()
      : (window.wp_has_consent?.('marketing') ?? true));

  const post = (url, fields) => fetch(url, { method: 'POST', body: new URLSearchParams(fields) });

  // `data-keep` names a page of the shop that sets the cookie. WebKit keeps a server's cookie longer than a script's, so the
  // script does not replace it. A cart that was just begun has no attributes yet, so every page looks.
  const keepClicks = async (click_id, isNew, { keep } = dataset) => {
    if (!keep || isNew) setCookie(click_id, Math.min(Math.max(...split(click_id).map(secondsLeft)), 7776e3) | 0);
    if (keep && isNew) await post(keep, { click_id });
    if (!Shopify) return;
    const { attributes } = await (await fetch('/cart.js')).json();
    if (attributes.click_id !== click_id) await post('/cart/update.js', { 'attributes[click_id]': click_id });
  };

  // Anyone can write an id into an address: where one would take the place of another, the links host says which of them all
  // it gave out.
  const run = (genuine) => {
    const kept = /(?:^|; )rollcall_click=([^;]+)/.exec(document.cookie)?.[1];
    let ids = split(kept);
    const id = split(new URLSearchParams(location.search).get('click_id') ?? '')[0];
    const may = mayKeep();
    if (may && id && !ids.includes(id)) {
      if (!ids[4]) ids.push(id);
      else if (genuine) ids = split(genuine);
      else
        fetch(`${src}&genuine=${ids.join('.')}.${id}`).then(
          async (answer) => answer.ok && run(`.${await answer.text()}`),
        );
    }
    const click = (may && ids.slice(-5).join('.')) || undefined;
    if (click && click !== rollcall.click) keepClicks(click, click !== kept).catch(() => {});
    if (!click && kept) setCookie('', 0);
    rollcall.click = click;
  };

  window.rollcall = {
    allow(yes = true) {
      isAllowed = yes;
      run();
    },
  };
  const start = () => {
    Shopify = window.Shopify;
    if (Shopify?.loadFeatures) Shopify.loadFeatures([{ name: 'consent-tracking-api', version: '0.1' }], () => run());
    else run();
  };
  // The scripts of consent APIs have run at the first of these. A script that is late for it has the second.
  for (const event of ['DOMContentLoaded', 'load', 'visitorConsentCollected', 'wp_listen_for_consent_change'])
    addEventListener(event, start, true);
  if (document.readyState === 'complete') start();
})();
