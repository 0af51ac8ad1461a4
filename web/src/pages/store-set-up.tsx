import type { Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { ago, percent } from '../kit/format.ts';
import { Button, Copy, Facts, Failure, Loading } from '../kit/parts.tsx';
import { buildPixel, buildPluginUrl, buildScriptTag } from './store-snippets.ts';

type Store = Row<'list_affiliate_stores'>;

/** Text to copy; it scrolls when it is wider than the dialog. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className={text.includes('\n') ? 'code' : 'code short'}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
      <section className="code-text" aria-label={label} tabIndex={0}>
        <pre>{text}</pre>
      </section>
      <Copy text={text} label={`Copy: ${label}`} />
    </div>
  );
}

/** Describes the share of the last orders that carried a click. */
export function describeTracking({ status, referral_tracking: tracking }: Store): string {
  if (status === 'disconnected') return 'Off while the store is disconnected';
  if (tracking.click_share === null) return 'No orders yet';
  const share = `${percent(tracking.click_share * 100)} of the last orders came with a click`;
  return tracking.status === 'seen' ? share : 'No order has come with a click yet';
}

function Shopify({ store }: { store: Store }) {
  return (
    <>
      <p>
        <strong>1. Add the script to the theme.</strong> In Shopify, open Online Store, Themes, Edit code. Paste this
        into layout/theme.liquid, just before {'</head>'}.
      </p>
      <Code text={buildScriptTag(store)} label="Script tag" />
      <p>
        <strong>2. Add a custom pixel.</strong> It tracks orders that skip the cart, such as those of “Buy it now”. Open
        Settings, Customer events, Add custom pixel. Name it Rollcall, set the permission to Required, Marketing, paste
        this, save, and connect.
      </p>
      <Code text={buildPixel(store)} label="Custom pixel" />
      <p className="hint">Both follow the consent that your visitors give to Shopify.</p>
    </>
  );
}

function WooCommerce({ store }: { store: Store }) {
  return (
    <>
      <p>
        <strong>1. Download the plugin.</strong> It is made for this store.
      </p>
      <p>
        <a className="button" href={buildPluginUrl(store)}>
          Download the plugin
        </a>
      </p>
      <p>
        <strong>2. Install it.</strong> In WordPress, open Plugins, Add New, Upload Plugin. Choose the file, install,
        and activate.
      </p>
      <p>
        <strong>3. Test it.</strong> Open WooCommerce, Rollcall, and press Test connection.
      </p>
      <p className="hint">It follows the WP Consent API, and its page has a setting for other consent banners.</p>
    </>
  );
}

function Generic({ store }: { store: Store }) {
  return (
    <>
      <p>
        <strong>1. Add the script to each page.</strong> Paste this before {'</head>'}.
      </p>
      <Code text={buildScriptTag(store)} label="Script tag" />
      <p>
        <strong>2. Send the click with the order.</strong> At checkout, read rollcall.click and send it in click_ids.
        The <a href="/manual/stores#the-protocol-of-a-generic-store">protocol</a> has every field.
      </p>
      <p className="hint">
        Where visitors must agree first, add data-consent="wait" to the tag, and call rollcall.allow() once they have.
      </p>
    </>
  );
}

const TRACKING = { shopify: Shopify, woocommerce: WooCommerce, generic: Generic } as const;

/** The last visit by a link and the last order that came with one, to see whether the set-up works. */
function TestIt({ store }: { store: Store }) {
  const tracking = useCall('get_affiliate_store_tracking', { params: { id: store.id } }, { isFresh: true });
  if (tracking.error) return <Failure error={tracking.error} again={() => void tracking.refetch()} />;
  if (!tracking.data) return <Loading rows={2} />;
  const { last_click: click, last_order: order } = tracking.data.data;
  return (
    <>
      <p>Follow one of your links, buy something, and check again.</p>
      <Facts
        of={[
          ['Last visit', click ? `${ago(click.at)}, by ${click.link_value}` : 'None in 30 days'],
          [
            'Last order with a click',
            order ? `${order.order_number ?? order.order_id}, ${ago(order.ordered_at)}` : 'None yet',
          ],
          ['Share', describeTracking(store)],
        ]}
      />
      <div className="actions">
        <Button onPress={() => void tracking.refetch()}>{tracking.isFetching ? 'Checking…' : 'Check again'}</Button>
      </div>
    </>
  );
}

/** The steps in the shop that keep the click of a creator’s link until the order. */
export function TrackClicks({ store }: { store: Store }) {
  const Steps = TRACKING[store.provider];
  return (
    <>
      <h3>Track clicks on links</h3>
      <p>A visit by a creator’s link is kept for as long as that link says. Discount codes work without this.</p>
      <Steps store={store} />
      <h3>Test it</h3>
      <TestIt store={store} />
    </>
  );
}
