import { useNavigate, useSearch } from '@tanstack/react-router';

/** The id of what is open, kept in the address, so that it can be shared, reloaded and left with Back. */
export function useOpened(name = 'open'): {
  id: string | undefined;
  open: (id: string) => void;
  close: () => void;
} {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const { [name]: value, ...others } = search;
  // One thing is open at a time; only a form may edit what is open behind it.
  const { open: _open, dialog: _dialog, edit: _edit, ...filters } = others;
  const rest = name === 'edit' ? others : filters;
  const to = (next: string | undefined) => {
    const search = next === undefined ? rest : { ...rest, [name]: next };
    return navigate({ to: '.', search, replace: next === undefined, resetScroll: false });
  };
  return {
    id: value === undefined || value === '' ? undefined : String(value),
    open: (id) => void to(id),
    close: () => void to(undefined),
  };
}

/** Whether a dialog is open, in the address: `?dialog=create`. */
export function useDialog(dialog: string): { isOpen: boolean; open: () => void; close: () => void } {
  const { id, open, close } = useOpened('dialog');
  return { isOpen: id === dialog, open: () => open(dialog), close };
}
