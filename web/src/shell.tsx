import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useCall } from './call/use.ts';
import icon from './icon.svg';
import { Icon } from './icons.tsx';
import { showTimesIn, words } from './kit/format.ts';
import { Button, Failure, Loading } from './kit/parts.tsx';
import { useTabRow } from './kit/tab-row.ts';
import { useSay } from './kit/toast.tsx';
import { findPage, getSection, type MenuGroup, type MenuPage, NAVIGATION, PAGES } from './navigation.ts';
import { SettingsList } from './settings-list.tsx';
import { leave, noteSession, signOut } from './signed-out.ts';
import { applyTheme, currentTheme, nextTheme } from './theme.ts';

/** Separate chunks, so that the page does not wait for the dialogs' code. */
const PhoneTop = lazy(() => import('./phone-top.tsx'));
const SampleNotice = lazy(() => import('./sample-notice.tsx'));
const loadPalette = () => import('./palette.tsx');
const Palette = lazy(loadPalette);
/** Loads it as soon as somebody is about to open it, so that it takes the first letters that they type. */
const preparePalette = () => void loadPalette().catch(() => undefined);

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

const THEME_SIGNS = { system: '◐', light: '☀', dark: '☾' } as const;

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  const change = () => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <Button onPress={change} label={`Theme: ${theme}`}>
      {THEME_SIGNS[theme]}
    </Button>
  );
}

/** The menu: a page that is under another is in that one's row of links. */
function Links({
  of,
  here,
  onChoose,
}: {
  of: MenuGroup;
  here: string | undefined;
  onChoose: (() => void) | undefined;
}) {
  return (
    <ul>
      {of.links
        .filter((one) => !('under' in one))
        .map(({ to, label, ...link }) => (
          <li key={to}>
            <Link
              to={to}
              title={'hint' in link ? link.hint : undefined}
              onClick={onChoose}
              activeOptions={{ exact: true, includeSearch: false }}
              aria-current={to === here || undefined}
            >
              <Icon of={to} />
              {label}
            </Link>
          </li>
        ))}
    </ul>
  );
}

/** The pages of a part of the product, on top of each of them. */
function Section({ of }: { of: MenuPage }) {
  const section = getSection(of);
  const pages = PAGES.filter((one) => getSection(one) === section);
  const row = useTabRow(of.to);
  if (pages.length === 1) return null;
  return (
    <nav className="section" aria-label="Section">
      <ul className="tab-row" ref={row}>
        {pages.map(({ to, label, ...link }) => (
          <li key={to}>
            <Link
              to={to}
              title={'hint' in link ? link.hint : undefined}
              activeOptions={{ exact: true, includeSearch: false }}
              aria-current={to === of.to || undefined}
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function useHere(): MenuPage | undefined {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return findPage(path);
}

function Side({ onChoose, onSearch }: { onChoose?: () => void; onSearch: () => void }) {
  const { data } = useCall('get_session');
  const say = useSay();
  const here = useHere();
  const section = here && getSection(here);
  const session = data?.data;
  return (
    <aside className="rail" aria-label="Rollcall">
      <p className="brand-name">
        <img src={icon} alt="" />
        <span>{session?.brand.name ?? 'Rollcall'}</span>
      </p>
      <button
        type="button"
        className="find"
        onClick={onSearch}
        onPointerEnter={preparePalette}
        onFocus={preparePalette}
      >
        Search <kbd aria-hidden>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav className="nav" aria-label="Main">
        {NAVIGATION.map((group) => (
          <div key={group.title}>
            {group.title && <h2>{group.title}</h2>}
            <Links of={group} here={section} onChoose={onChoose} />
          </div>
        ))}
      </nav>
      <div className="who">
        {session && (
          <p>
            {session.person.name ?? session.person.email}
            {session.person.name?.toLowerCase() !== session.person.role && (
              <span className="second">{words(session.person.role)}</span>
            )}
          </p>
        )}
        <div className="row">
          <ThemeButton />
          <a href="/manual" className="button plain">
            Manual
          </a>
          <Button
            onPress={() =>
              void signOut().catch(() => say('You may still be signed in. Check your connection and try again.'))
            }
          >
            Sign out
          </Button>
        </div>
      </div>
    </aside>
  );
}

export function Shell() {
  const { data, error, isPending, refetch } = useCall('get_session');
  const isSignedOut = error !== null && 'status' in error && error.status === 401;
  const isSignedIn = data !== undefined;
  const main = useRef<HTMLElement>(null);
  const here = useHere();
  const isInSettings = here !== undefined && getSection(here) === '/settings';
  useEffect(() => {
    if (isSignedOut) leave();
    else if (isSignedIn) noteSession();
  }, [isSignedOut, isSignedIn]);
  const [isSearching, setSearching] = useState(false);
  const [isSearchWanted, setSearchWanted] = useState(false);
  const search = () => {
    setSearchWanted(true);
    setSearching(true);
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Control' || event.key === 'Meta') preparePalette();
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setSearchWanted(true);
      setSearching(true);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
  if (isPending || isSignedOut) return <Loading rows={1} />;
  if (!data) return error && <Failure error={error} again={() => void refetch()} />;
  showTimesIn(data.data.brand.time_zone);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <Side onSearch={search} />
      <Suspense>
        <PhoneTop brand={data.data.brand.name}>
          {(close) => (
            <Side
              onChoose={close}
              onSearch={() => {
                close();
                search();
              }}
            />
          )}
        </PhoneTop>
        {isSearchWanted && <Palette isOpen={isSearching} onClose={() => setSearching(false)} />}
      </Suspense>
      {here && isInSettings && <SettingsList of={here} />}
      <main className="main" id="main" ref={main} tabIndex={-1}>
        {data.data.is_copy && (
          <aside className="notice" role="alert">
            This is a restored copy. Emails, webhooks, exports and calls to stores are off until its operator lets it go
            live.
          </aside>
        )}
        {data.data.brand.has_sample && (
          <Suspense>
            <SampleNotice />
          </Suspense>
        )}
        {here && !isInSettings && <Section of={here} />}
        {/* The skip link leads past the row of links. */}
        <span id="content" className="start" tabIndex={-1} />
        <Outlet />
      </main>
    </div>
  );
}
