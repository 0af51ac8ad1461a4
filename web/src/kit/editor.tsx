import { Fragment, type ReactNode, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { useOpened } from './opened.ts';
import { Button, IfMay } from './parts.tsx';

export interface Editing<Item> {
  item: Item;
  isOpen: boolean;
  onClose: () => void;
}

interface EditorProps<Item> {
  item: Item;
  needs: OperationId;
  kind?: 'primary' | 'plain';
  /** Names the item, where several can be edited. */
  label?: string;
  /** Where it says more than that it edits. */
  text?: string;
  children: (editing: Editing<Item>) => ReactNode;
}

/**
 * A button that edits an item, in a form with an address: `?edit=cmp_…`. The form keeps the item as it was when it was
 * opened, so that others' concurrent changes are not overwritten.
 */
export function Editor<Item extends { id: string }>({
  item,
  needs,
  kind = 'plain',
  label,
  text = 'Edit',
  children,
}: EditorProps<Item>) {
  const { id, open, close } = useOpened('edit');
  const isOpen = id === item.id;
  const [opening, setOpening] = useState({ item, isOpen, times: 0 });
  if (isOpen !== opening.isOpen) {
    setOpening(isOpen ? { item, isOpen, times: opening.times + 1 } : { ...opening, isOpen });
  }
  return (
    <IfMay needs={needs}>
      <Button kind={kind} onPress={() => open(item.id)} {...(label === undefined ? {} : { label })}>
        {text}
      </Button>
      <Fragment key={opening.times}>{children({ item: opening.item, isOpen, onClose: close })}</Fragment>
    </IfMay>
  );
}
