import { type ReactNode, type ToggleEvent, useId, useRef, useState } from 'react';

/** As in the styles. */
const WIDTH_PX = 300;
const GAP_PX = 4;

interface WhyProps {
  /** The name of the figure. */
  of: string;
  children: ReactNode;
}

/**
 * Says what a figure counts, behind a sign beside its name. Pages whose figures of one name differ for a reason say it
 * there: the period, the currency, what was deducted.
 */
export function Why({ of, children }: WhyProps) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const text = useRef<HTMLDivElement>(null);
  // Rendered when it first opens, so that the name of the figure is all that its label says.
  const [isUsed, setUsed] = useState(false);
  function place({ newState }: ToggleEvent) {
    setUsed(true);
    const [button, { current: box }] = [opener.current?.getBoundingClientRect(), text];
    if (!button || !box || newState !== 'open') return;
    const room = document.documentElement.clientWidth - WIDTH_PX - 2 * GAP_PX;
    box.style.left = `${Math.max(GAP_PX, Math.min(button.left, room)) + window.scrollX}px`;
    box.style.top = `${button.bottom + GAP_PX + window.scrollY}px`;
  }
  return (
    <>
      <button
        type="button"
        ref={opener}
        className="why"
        aria-label={`What ${of} counts`}
        popoverTarget={id}
        popoverTargetAction="show"
        onPointerEnter={({ pointerType }) => pointerType === 'mouse' && text.current?.togglePopover(true)}
        onPointerLeave={({ pointerType }) => pointerType === 'mouse' && text.current?.togglePopover(false)}
      >
        <svg viewBox="0 0 24 24" className="icon" aria-hidden="true">
          <path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v6M12 7.500h.01" />
        </svg>
      </button>
      <div id={id} ref={text} popover="auto" className="why-text" onBeforeToggle={place}>
        {isUsed && children}
      </div>
    </>
  );
}
