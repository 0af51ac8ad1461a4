import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCall } from './call/use.ts';
import { type MenuPage, PAGES } from './navigation.ts';

/** The parts of the page Settings itself, by the value of `tab` in the address. */
export const TABS = {
  brand: 'Brand',
  attribution: 'Attribution',
  fraud: 'Fraud rules',
  'what-if': 'Simulate rules',
  mails: 'Email notifications',
  'signing-in': 'Sign-in',
  imports: 'Directory imports',
} as const;
export type Tab = keyof typeof TABS;

const TAB_NAMES: readonly Tab[] = ['brand', 'attribution', 'fraud', 'what-if', 'mails', 'signing-in', 'imports'];

/** The chosen part of Settings. */
export function useTab(): Tab {
  // The filters of lists would come with the first page for this one value.
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const isOperator = useCall('get_session').data?.data.sees_imports === true;
  const tab = TAB_NAMES.find((one) => one === search.tab) ?? 'brand';
  return tab === 'imports' && !isOperator ? 'brand' : tab;
}

/** Pages by their address, the parts of Settings by their name. */
type Entry = Tab | MenuPage['to'];

const GROUPS: readonly (readonly [title: string, entries: readonly Entry[]])[] = [
  ['Your brand', ['brand', '/people', '/stores']],
  ['Rules', ['attribution', 'fraud', 'what-if']],
  ['Your account', ['mails', 'signing-in']],
  ['Developers', ['/keys', '/requests', '/webhooks', '/agents']],
  ['Data', ['/imports', '/exports', 'imports', '/rights', '/audit']],
];

const isTab = (entry: Entry): entry is Tab => entry in TABS;
const findMenuPage = (entry: Entry) => PAGES.find(({ to }) => to === entry);
const labelFor = (entry: Entry): string => (isTab(entry) ? TABS[entry] : (findMenuPage(entry)?.label ?? entry));

function hintFor(entry: Entry): string | undefined {
  const page = findMenuPage(entry);
  return page && 'hint' in page ? page.hint : undefined;
}

const toTarget = (entry: Entry) =>
  isTab(entry) ? ({ to: '/settings', search: { tab: entry } } as const) : { to: entry, search: {} };

/** The parts of Settings and the pages that belong to it, beside each of them. A narrow screen has them in a select. */
export function SettingsList({ of }: { of: MenuPage }) {
  const tab = useTab();
  const navigate = useNavigate();
  const isOperator = useCall('get_session').data?.data.sees_imports === true;
  const current: Entry = of.to === '/settings' ? tab : of.to;
  const groups = GROUPS.map(
    ([title, entries]) => [title, entries.filter((entry) => entry !== 'imports' || isOperator)] as const,
  );
  const go = (value: string) => {
    const entry = groups.flatMap(([, entries]) => entries).find((one) => one === value);
    if (entry) void navigate(toTarget(entry));
  };
  return (
    <nav className="contents" aria-label="Section">
      <select aria-label="Settings" value={current} onChange={({ target }) => go(target.value)}>
        {groups.map(([title, entries]) => (
          <optgroup key={title} label={title}>
            {entries.map((entry) => (
              <option key={entry} value={entry}>
                {labelFor(entry)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      {groups.map(([title, entries]) => (
        <div key={title}>
          <h2>{title}</h2>
          <ul>
            {entries.map((entry) => (
              <li key={entry}>
                <Link
                  {...toTarget(entry)}
                  title={hintFor(entry)}
                  activeOptions={{ exact: true, includeSearch: isTab(entry) }}
                  aria-current={entry === current || undefined}
                >
                  {labelFor(entry)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
