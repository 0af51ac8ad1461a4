import { useRouterState } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import icon from './icon.svg';
import { Button } from './kit/parts.tsx';

/** Loaded with the first press, so that the page does not wait for it. */
const Dialog = lazy(async () => ({ default: (await import('./kit/dialog.tsx')).Dialog }));

/** On a phone the navigation opens with a button, and closes when a page is chosen, even the current one. */
export default function PhoneTop({ brand, children }: { brand: string; children: (close: () => void) => ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [isWanted, setWanted] = useState(false);
  const open = () => {
    setWanted(true);
    setOpen(true);
  };
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const close = () => setOpen(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <header className="top">
      <p className="brand-name">
        <img src={icon} alt="" />
        <span>{brand}</span>
      </p>
      <Button onPress={open}>Menu</Button>
      {isWanted && (
        <Suspense>
          <Dialog title="Menu" isOpen={isOpen} onClose={close} isSide>
            <div className="drawer">{children(close)}</div>
          </Dialog>
        </Suspense>
      )}
    </header>
  );
}
