import { useNavigate, useRouter, useRouterState, useSearch } from '@tanstack/react-router';

type Search = Record<string, unknown>;

/** One thing is open at a time; only a form may edit what is open behind it. */
function without(name: string, { [name]: _value, ...others }: Search): Search {
  if (name === 'edit') return others;
  const { open: _open, dialog: _dialog, edit: _edit, ...filters } = others;
  return filters;
}

/** The id of what is open, kept in the address, so that it can be shared, reloaded and left with Back. */
export function useOpened(name = 'open'): {
  id: string | undefined;
  open: (id: string) => void;
  close: () => void;
} {
  const { [name]: value }: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const router = useRouter();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  /** While long work ran, the person may have gone to another page or opened something else. */
  const isThere = () => router.latestLocation.pathname === path;
  const isStillOpen = () => {
    const { [name]: current }: Search = router.latestLocation.search;
    return isThere() && current === value;
  };
  const to = (next: string | undefined) => {
    const search = (now: Search) => ({ ...without(name, now), ...(next !== undefined && { [name]: next }) });
    return navigate({ to: '.', search, replace: next === undefined, resetScroll: false });
  };
  return {
    id: value === undefined || value === '' ? undefined : String(value),
    open: (id) => void (isThere() && to(id)),
    close: () => void (isStillOpen() && to(undefined)),
  };
}

/** Keeps the open dialog in the address, such as `?dialog=create`, so that a link can open it. */
export function useDialog(dialog: string): { isOpen: boolean; open: () => void; close: () => void } {
  const { id, open, close } = useOpened('dialog');
  return { isOpen: id === dialog, open: () => open(dialog), close };
}
