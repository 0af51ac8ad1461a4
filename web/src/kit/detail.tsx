import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Failure, Loading } from './parts.tsx';

interface DetailProps<Item> {
  /** The id of the open item; undefined if none is open. */
  id: string | undefined;
  onClose: () => void;
  query: { data: { data: Item } | undefined; error: Error | null; refetch: () => unknown };
  title: (item: Item | undefined) => string;
  children: (item: Item) => ReactNode;
}

/** One item of a list, in a side panel; the previous item is not shown while it loads. */
export function Detail<Item extends { id: string }>({ id, onClose, query, title, children }: DetailProps<Item>) {
  const item = query.data?.data.id === id ? query.data?.data : undefined;
  return (
    <Dialog title={title(item)} isOpen={id !== undefined} onClose={onClose} isSide>
      {query.error && <Failure error={query.error} again={() => void query.refetch()} />}
      {!item && !query.error && <Loading />}
      {item && children(item)}
    </Dialog>
  );
}
