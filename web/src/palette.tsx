import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import type { OperationId } from './call/call.ts';
import { useMay } from './call/may.ts';
import { useFirst } from './call/use.ts';
import { Icon } from './icons.tsx';
import { creatorName, creatorSecond } from './kit/creator-name.ts';
import { Dialog } from './kit/dialog.tsx';
import { Face } from './kit/face.tsx';
import { money, words } from './kit/format.ts';
import { useLater } from './kit/later.ts';
import { type MenuPage, PAGES } from './navigation.ts';

interface PaletteItem {
  key: string;
  name: string;
  second: string | null;
  page?: MenuPage['to'];
  picture?: string | null;
  go: () => Promise<void>;
}

const SHOWN = 5;

interface Action {
  name: string;
  /** Words by which people look for it that are not in its name. */
  also?: string;
  to: MenuPage['to'];
  search: Readonly<Record<string, string>>;
  needs: OperationId;
}

/** What people do most, each with the address at which its form is open. */
const ACTIONS: readonly Action[] = [
  {
    name: 'Pay what is due',
    also: 'payout batch',
    to: '/payouts',
    search: { dialog: 'pay' },
    needs: 'pay_payout_batch',
  },
  {
    name: 'Approve commissions',
    to: '/commissions',
    search: { approvable: 'true' },
    needs: 'review_commissions',
  },
  {
    name: 'Approve all ready commissions',
    also: 'commissions',
    to: '/commissions',
    search: { dialog: 'approve' },
    needs: 'approve_due_commissions',
  },
  {
    name: 'Create a link or code',
    also: 'new discount',
    to: '/links',
    search: { dialog: 'create' },
    needs: 'create_affiliate_link',
  },
  {
    name: 'Add a creator',
    also: 'invite new roster',
    to: '/roster',
    search: { dialog: 'create' },
    needs: 'add_to_roster_by_handle',
  },
  { name: 'Create a campaign', also: 'new', to: '/campaigns', search: { dialog: 'create' }, needs: 'create_campaign' },
  {
    name: 'Draft a contract',
    also: 'new create',
    to: '/contracts',
    search: { dialog: 'create' },
    needs: 'create_contract',
  },
  {
    name: 'Write a brief',
    also: 'new create send',
    to: '/briefs',
    search: { dialog: 'create' },
    needs: 'create_brief',
  },
  {
    name: 'Add a shipment',
    also: 'new send parcel',
    to: '/shipments',
    search: { dialog: 'create' },
    needs: 'create_shipment',
  },
  {
    name: 'Write a message',
    also: 'new message conversation',
    to: '/conversations',
    search: { dialog: 'create' },
    needs: 'send_message',
  },
  { name: 'Track a post', also: 'content new', to: '/content', search: { dialog: 'create' }, needs: 'track_content' },
  {
    name: 'Connect a store',
    also: 'shopify woocommerce',
    to: '/stores',
    search: { dialog: 'connect' },
    needs: 'connect_affiliate_store',
  },
  { name: 'Create an API key', also: 'new', to: '/keys', search: { dialog: 'create' }, needs: 'create_key' },
  { name: 'Add a webhook', also: 'new create', to: '/webhooks', search: { dialog: 'create' }, needs: 'create_webhook' },
  {
    name: 'Export data',
    also: 'download month csv parquet new',
    to: '/exports',
    search: { dialog: 'create' },
    needs: 'create_export',
  },
  {
    name: 'Invite a colleague',
    also: 'person someone people',
    to: '/people',
    search: { dialog: 'invite' },
    needs: 'invite_person',
  },
];

/** Each word that was typed begins a word of the text. */
function isMatch(text: string, searchText: string): boolean {
  const words = text.toLowerCase().split(/[\s-]+/);
  return searchText.split(/\s+/).every((typed) => words.some((word) => word.startsWith(typed)));
}

/** Pages and actions by name; creators, campaigns and orders as the API finds them. */
function useFound(text: string): {
  groups: readonly (readonly [title: string, found: readonly PaletteItem[]])[];
  isSettled: boolean;
} {
  const navigate = useNavigate();
  const settledText = useLater(text.trim(), 150);
  const options = { limit: SHOWN, isEnabled: settledText.length > 1 };
  const creators = useFirst('list_roster', { search: settledText }, options);
  const campaigns = useFirst('list_campaigns', { search: settledText }, options);
  const orders = useFirst('list_orders', { order_id: settledText }, options);
  const searchText = text.trim().toLowerCase();
  const may = useMay();
  const pages = PAGES.filter(({ label }) => isMatch(label, searchText));
  const actions = ACTIONS.filter(
    ({ name, also, needs }) => searchText !== '' && isMatch(`${name} ${also ?? ''}`, searchText) && may(needs),
  );
  // Enter must not open a result of the text as it was before.
  const isSettled = settledText === text.trim();
  const isFound = isSettled && settledText.length > 1;
  const isAsking = isFound && [creators, campaigns, orders].some(({ isPending }) => isPending);
  const groups = [
    [
      'Pages',
      pages.map(({ to, label }) => ({
        key: to,
        name: label,
        second: null,
        page: to,
        go: () => navigate({ to, search: {} }),
      })),
    ],
    [
      'Actions',
      actions.map(({ name, to, search }) => ({
        key: name,
        name,
        second: null,
        page: to,
        go: () => navigate({ to, search }),
      })),
    ],
    [
      'Creators',
      (isFound ? (creators.data?.data ?? []) : []).map((creator) => ({
        key: creator.id,
        name: creatorName(creator),
        second: creatorSecond(creator),
        picture: creator.pfp_url,
        go: () => navigate({ to: '/creators/$id', params: { id: creator.id }, search: {} }),
      })),
    ],
    [
      'Campaigns',
      (isFound ? (campaigns.data?.data ?? []) : []).map(({ id, title, status }) => ({
        key: id,
        name: title,
        second: words(status),
        page: '/campaigns' as const,
        go: () => navigate({ to: '/campaigns/$id', params: { id }, search: {} }),
      })),
    ],
    [
      'Orders',
      (isFound ? (orders.data?.data ?? []) : []).map(({ id, order_id, order_number, amount, currency }) => ({
        key: id,
        name: `Order ${order_number ?? order_id}`,
        second: money(amount, currency),
        page: '/orders' as const,
        go: () => navigate({ to: '/orders', search: { open: id } }),
      })),
    ],
  ] as const;
  return { groups, isSettled: isSettled && !isAsking };
}

function Search({ onDone }: { onDone: () => void }) {
  const id = useId();
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const results = useFound(text);
  const groups = results.groups.filter(([, items]) => items.length > 0);
  const all = groups.flatMap(([, items]) => items);
  const activeItem = all[Math.min(active, all.length - 1)];
  const choose = (one: PaletteItem) => {
    onDone();
    void one.go();
  };
  function press(event: KeyboardEvent) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setActive((active + step + all.length) % Math.max(all.length, 1));
    } else if (event.key === 'Enter' && activeItem) {
      event.preventDefault();
      choose(activeItem);
    }
  }
  return (
    <>
      <input
        type="search"
        role="combobox"
        aria-label="Search pages, actions, creators, campaigns and orders"
        placeholder="Page, action, creator, campaign or order number"
        autoComplete="off"
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
        autoFocus
        aria-expanded={all.length > 0}
        aria-controls={id}
        aria-activedescendant={activeItem && `${id}${activeItem.key}`}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setActive(0);
        }}
        onKeyDown={press}
      />
      <div className="palette" id={id} {...(all.length > 0 ? { role: 'listbox', 'aria-label': 'Results' } : {})}>
        {groups.map(([title, items]) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset does not belong into a list of options
          <div key={title} role="group" aria-label={title}>
            <p className="small muted" aria-hidden>
              {title}
            </p>
            {items.map((one) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the focus and takes the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the same
              <div
                key={one.key}
                id={`${id}${one.key}`}
                role="option"
                aria-selected={one === activeItem}
                className="choice-row"
                onPointerMove={() => setActive(all.indexOf(one))}
                onClick={() => choose(one)}
              >
                {one.page ? <Icon of={one.page} /> : <Face name={one.name} url={one.picture ?? null} />}
                <span>
                  {one.name}
                  {one.second && <span className="second">{one.second}</span>}
                </span>
              </div>
            ))}
          </div>
        ))}
      </div>
      {all.length === 0 && results.isSettled && (
        <p className="hint" role="status">
          Nothing found.
        </p>
      )}
    </>
  );
}

/** Finds pages, actions, creators, campaigns and orders by a few letters. */
export default function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Search" isOpen={isOpen} onClose={onClose}>
      {isOpen && <Search onDone={onClose} />}
    </Dialog>
  );
}
