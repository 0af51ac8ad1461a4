import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import icon from './icon.svg';
import { Dialog } from './kit/dialog.tsx';
import { Button } from './kit/parts.tsx';

/** On a phone the navigation opens with a button, and closes when a page is chosen, even the current one. */
export default function PhoneTop({ brand, children }: { brand: string; children: (close: () => void) => ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const close = () => setOpen(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <header className="top">
      <p className="brand-name">
        <img src={icon} alt="" />
        <span>{brand}</span>
      </p>
      <Button onPress={() => setOpen(true)}>Menu</Button>
      <Dialog title="Menu" isOpen={isOpen} onClose={close} isSide>
        <div className="drawer">{children(close)}</div>
      </Dialog>
    </header>
  );
}
