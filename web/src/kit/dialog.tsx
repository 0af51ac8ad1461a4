import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { Help } from './help.tsx';
import { Button } from './parts.tsx';
import { Scroller } from './scroller.ts';
import { useTitle } from './title.ts';

interface DialogProps {
  title: string;
  hint?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  /** A side panel, for reading one item next to its list. */
  isSide?: boolean;
  /** A wide side panel, with two columns. */
  isBroad?: boolean;
}

/** The fields in which something is typed or chosen, in the order of the page. */
export const FIELDS = ':is(input:not([type="hidden"], [type="radio"]), input:checked, select, textarea):enabled';

export const isTouched = () => window.matchMedia('(pointer: coarse)').matches;

export function Dialog({ title, hint, isOpen, onClose, children, isSide, isBroad }: DialogProps) {
  const [popup, setPopup] = useState<Element | null>(null);
  useTitle(isOpen && isSide ? title : undefined);
  /** A form's first field. A panel is read first, and on a phone a field would bring up the keys at once. */
  const focusFirst = () => (!isSide && !isTouched() && popup?.querySelector<HTMLElement>(FIELDS)) || true;
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup
          ref={setPopup}
          initialFocus={focusFirst}
          className={['popup', isSide && 'side', isBroad && 'broad'].filter(Boolean).join(' ')}
        >
          <div className="popup-head">
            <Base.Title className="popup-title">{title}</Base.Title>
            <Base.Close className="button quiet" aria-label="Close">
              ✕
            </Base.Close>
          </div>
          {hint && <Base.Description className="hint">{hint}</Base.Description>}
          {popup && <Scroller value={popup}>{children}</Scroller>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmProps {
  /** The label of the button that opens the dialog. */
  label: string;
  title: string;
  children: ReactNode;
  action: string;
  onConfirm: () => Promise<unknown>;
  isDanger?: boolean;
  /** True if its button is one of many, or stands beside the main ones. */
  isQuiet?: boolean;
  /** The operation that it calls. */
  needs?: OperationId;
  /** Its button was pressed before the dialog was loaded. */
  startsOpen?: boolean;
}

/** A button that asks for confirmation and says what will happen. */
export function Confirm({
  label,
  title,
  children,
  action,
  onConfirm,
  isDanger = true,
  isQuiet = false,
  startsOpen = false,
  ...may
}: ConfirmProps) {
  const [isOpen, setOpen] = useState(startsOpen);
  const [failure, setFailure] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  async function confirm() {
    setBusy(true);
    setFailure(undefined);
    try {
      await onConfirm();
      setOpen(false);
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error('Something went wrong. Try again.'));
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Button kind={isQuiet ? 'quiet' : isDanger ? 'danger' : 'plain'} onPress={() => setOpen(true)} {...may}>
        {label}
      </Button>
      <Dialog title={title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <div className="stack">{children}</div>
        {failure && (
          <p className="problem" role="alert">
            {failure.message}
            <Help of={failure} />
          </p>
        )}
        <div className="popup-foot">
          <Button onPress={() => setOpen(false)}>Cancel</Button>
          <Button kind={isDanger ? 'danger' : 'primary'} isBusy={isBusy} onPress={() => void confirm()}>
            {action}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
