import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import icon from './icon.svg';
import { Dialog } from './kit/dialog.tsx';
import { Button } from './kit/parts.tsx';

/** On a phone the navigation is behind a button, and gone when a page was chosen: another one, or the one that is shown. */
export default function PhoneTop({ children }: { children: (close: () => void) => ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const close = () => setOpen(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <header className="top">
      <p className="brand-name">
        <img src={icon} alt="" />
        <span>Rollcall</span>
      </p>
      <Button onPress={() => setOpen(true)}>Menu</Button>
      <Dialog title="Menu" isOpen={isOpen} onClose={close} isSide>
        <div className="drawer">{children(close)}</div>
      </Dialog>
    </header>
  );
}
