import { Fragment, type ReactNode, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { Button } from './parts.tsx';

export interface Editing<Item> {
  item: Item;
  isOpen: boolean;
  onClose: () => void;
}

interface EditorProps<Item> {
  item: Item;
  needs: OperationId;
  kind?: 'primary' | 'plain';
  children: (editing: Editing<Item>) => ReactNode;
}

/**
 * A button that edits an item. The form keeps the item as it was when the button was pressed, so that others'
 * concurrent changes are not overwritten.
 */
export function Editor<Item>({ item, needs, kind = 'plain', children }: EditorProps<Item>) {
  const [opened, setOpened] = useState({ item, times: 0 });
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setOpened({ item, times: opened.times + 1 });
    setOpen(true);
  };
  return (
    <>
      <Button needs={needs} kind={kind} onPress={open}>
        Edit
      </Button>
      <Fragment key={opened.times}>{children({ item: opened.item, isOpen, onClose: () => setOpen(false) })}</Fragment>
    </>
  );
}
