import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Failure, Loading } from './parts.tsx';

interface DetailProps<Item> {
  /** Which one is open; none when it is undefined. */
  id: string | undefined;
  onClose: () => void;
  found: { data: { data: Item } | undefined; error: Error | null; refetch: () => unknown };
  title: (item: Item | undefined) => string;
  children: (item: Item) => ReactNode;
}

/** One thing of a list, at its side; what was open before it is not shown in its place. */
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
