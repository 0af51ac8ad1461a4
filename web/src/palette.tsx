import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { useFirst } from './call/use.ts';
import { Icon } from './icons.tsx';
import { creatorName, creatorSecond } from './kit/creator-name.ts';
import { Dialog } from './kit/dialog.tsx';
import { Face } from './kit/face.tsx';
import { money, words } from './kit/format.ts';
import { useLater } from './kit/later.ts';
import { NAVIGATION } from './navigation.ts';

type Page = (typeof NAVIGATION)[number]['links'][number];

interface Found {
  key: string;
  name: string;
  second: string | null;
  page?: Page['to'];
  picture?: string | null;
  go: () => Promise<void>;
}

const SHOWN = 5;

/** Pages by name; creators, campaigns and orders as the API finds them. */
function useFound(text: string): {
  groups: readonly (readonly [title: string, found: readonly Found[]])[];
  isSettled: boolean;
} {
  const navigate = useNavigate();
  const settled = useLater(text.trim(), 150);
  const options = { limit: SHOWN, isEnabled: settled.length > 1 };
  const creators = useFirst('list_roster', { search: settled }, options);
  const campaigns = useFirst('list_campaigns', { search: settled }, options);
  const orders = useFirst('list_orders', { order_id: settled }, options);
  const wanted = text.trim().toLowerCase();
  const pages = NAVIGATION.flatMap(({ links }): readonly Page[] => links).filter(
    ({ label }) =>
      label
        .toLowerCase()
        .split(' ')
        .some((word) => word.startsWith(wanted)) || label.toLowerCase().startsWith(wanted),
  );
  // Enter must not open a result of the text as it was before.
  const isSettled = settled === text.trim();
  const isFound = isSettled && settled.length > 1;
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
  return { groups, isSettled };
}

function Search({ onDone }: { onDone: () => void }) {
  const id = useId();
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const found = useFound(text);
  const groups = found.groups.filter(([, items]) => items.length > 0);
  const all = groups.flatMap(([, items]) => items);
  const chosen = all[Math.min(active, all.length - 1)];
  const choose = (one: Found) => {
    onDone();
    void one.go();
  };
  function press(event: KeyboardEvent) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setActive((active + step + all.length) % Math.max(all.length, 1));
    } else if (event.key === 'Enter' && chosen) {
      event.preventDefault();
      choose(chosen);
    }
  }
  return (
    <>
      <input
        type="search"
        role="combobox"
        aria-label="Search pages, creators, campaigns and orders"
        placeholder="Page, creator, campaign or order number"
        autoComplete="off"
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
        autoFocus
        aria-expanded={all.length > 0}
        aria-controls={id}
        aria-activedescendant={chosen && `${id}${chosen.key}`}
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
                aria-selected={one === chosen}
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
      {all.length === 0 && found.isSettled && (
        <p className="hint" role="status">
          Nothing found.
        </p>
      )}
    </>
  );
}

/** Finds pages, creators, campaigns and orders by a few letters. */
export default function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Search" isOpen={isOpen} onClose={onClose}>
      {isOpen && <Search onDone={onClose} />}
    </Dialog>
  );
}
