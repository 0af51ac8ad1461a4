import { type ReactNode, type ToggleEvent, useId, useRef, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { IfMay } from './parts.tsx';

/** The menu opens upwards if less than this is left below its button. */
const ROOM = 260;
const GAP = 4;

interface MenuProps {
  label: string;
  children: ReactNode;
  text?: ReactNode;
  /** An operation of its actions: hidden from people who may not call it. */
  needs?: OperationId;
}

/** More actions, behind a button. The browser closes the menu on Escape and on a press outside. */
export function Menu({ needs, ...menu }: MenuProps) {
  return needs === undefined ? (
    <Actions {...menu} />
  ) : (
    <IfMay needs={needs}>
      <Actions {...menu} />
    </IfMay>
  );
}

function Actions({ label, children, text = '⋯' }: Omit<MenuProps, 'needs'>) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  // Rendered when it first opens. It stays, because an action may have a dialog that outlives the menu.
  const [isUsed, setUsed] = useState(false);
  const close = () => list.current?.hidePopover();
  const watch = useRef<AbortController>(null);
  /** A menu does not follow its button. What scrolled before it opened is reported after that, and has moved nothing. */
  function closeWhenMoved(top: number) {
    watch.current = new AbortController();
    const check = () => opener.current?.getBoundingClientRect().top !== top && close();
    window.addEventListener('scroll', check, { capture: true, signal: watch.current.signal });
  }
  function place({ newState }: ToggleEvent) {
    setUsed(true);
    watch.current?.abort();
    const [button, { current: menu }] = [opener.current?.getBoundingClientRect(), list];
    if (!button || !menu || newState !== 'open') return;
    const isUp = window.innerHeight - button.bottom < ROOM && button.top > ROOM;
    menu.style.right = `${document.documentElement.clientWidth - button.right}px`;
    menu.style.top = isUp ? 'auto' : `${button.bottom + GAP}px`;
    menu.style.bottom = isUp ? `${window.innerHeight - button.top + GAP}px` : 'auto';
    closeWhenMoved(button.top);
  }
  function move(key: string): boolean {
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return false;
    const items = [...(list.current?.querySelectorAll<HTMLElement>('button:not(:disabled), a[href], input') ?? [])];
    const at = items.findIndex((item) => item.matches(':focus'));
    const next = key === 'ArrowDown' ? at + 1 : at < 0 ? items.length - 1 : at - 1;
    items.at(next % items.length)?.focus();
    return true;
  }
  return (
    <>
      <button type="button" ref={opener} className="button menu-button" aria-label={label} popoverTarget={id}>
        {text}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its buttons take the keys, and the arrows move between them */}
      <div
        id={id}
        ref={list}
        popover="auto"
        className="menu"
        onBeforeToggle={place}
        onClick={({ target }) => target instanceof Element && target.closest('button, a') && close()}
        onKeyDown={(event) => {
          if (event.target instanceof Node && list.current?.contains(event.target) && move(event.key))
            event.preventDefault();
        }}
      >
        {isUsed && children}
      </div>
    </>
  );
}
