import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Failure, Loading } from './parts.tsx';

interface DetailProps<Item> {
  /** The id of the open item; undefined if none is open. */
  id: string | undefined;
  onClose: () => void;
  found: { data: { data: Item } | undefined; error: Error | null; refetch: () => unknown };
  title: (item: Item | undefined) => string;
  children: (item: Item) => ReactNode;
}

/** One item of a list, in a side panel; the previous item is not shown while it loads. */
export function Detail<Item extends { id: string }>({ id, onClose, found, title, children }: DetailProps<Item>) {
  const item = found.data?.data.id === id ? found.data?.data : undefined;
  return (
    <Dialog title={title(item)} isOpen={id !== undefined} onClose={onClose} isSide>
      {found.error && <Failure error={found.error} again={() => void found.refetch()} />}
      {!item && !found.error && <Loading />}
      {item && children(item)}
    </Dialog>
  );
}
