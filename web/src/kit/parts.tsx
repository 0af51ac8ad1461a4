import type { ReactNode } from 'react';
import { Fragment, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { copied, NOT_COPIED } from './copied.ts';
import { words } from './format.ts';
import { Help } from './help.tsx';
import { useTitle } from './title.ts';
import { useSay } from './toast.tsx';
import { Why } from './why.tsx';

export interface PageHeadProps {
  title: string;
  hint?: ReactNode;
  /** True if the sentence names the period of the figures. */
  hasPeriod?: boolean;
  children?: ReactNode;
}

/**
 * The head of every page: its title, one sentence, and its actions. A phone shows the main action, the others behind a
 * button, and a sentence only if it has facts.
 */
export function PageHead({ title, hint, hasPeriod = false, children }: PageHeadProps) {
  useTitle(title);
  const [isUnfolded, setUnfolded] = useState(false);
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {hint && <p className={typeof hint === 'string' && !hasPeriod ? 'hint wide' : 'hint'}>{hint}</p>}
      </div>
      {children && (
        <div className={isUnfolded ? 'actions' : 'actions packed'}>
          {children}
          <button
            type="button"
            className="button plain unfold"
            aria-label="All actions"
            aria-expanded={isUnfolded}
            onClick={() => setUnfolded(!isUnfolded)}
          >
            ⋯
          </button>
        </div>
      )}
    </header>
  );
}

interface CardProps {
  title?: ReactNode;
  children: ReactNode;
  action?: ReactNode;
  /** The anchor for a link on the same page. */
  id?: string;
}

export function Card({ title, children, action, id }: CardProps) {
  return (
    <section className="card" id={id}>
      {title && (
        <div className="card-head">
          <h2>{title}</h2>
          {action}
        </div>
      )}
      {children}
    </section>
  );
}

type Tone = 'good' | 'wait' | 'bad' | 'quiet';
/** `wait` is for what the brand has to do; what waits for others is quiet. */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  live: 'good',
  approved: 'good',
  accepted: 'good',
  connected: 'good',
  paid: 'good',
  ok: 'good',
  delivered: 'good',
  signed: 'good',
  succeeded: 'good',
  resolved: 'good',
  won: 'good',
  done: 'good',
  contracted: 'good',
  posted: 'good',
  earning: 'good',
  submitted: 'wait',
  expiring: 'wait',
  to_settle: 'wait',
  held: 'wait',
  needs_answers: 'wait',
  ready: 'wait',
  unread: 'wait',
  disabled: 'wait',
  open: 'wait',
  missing: 'wait',
  reauth_required: 'bad',
  error: 'bad',
  failing: 'bad',
  firing: 'wait',
  failed: 'bad',
  exhausted: 'bad',
};

/** A creator who is hired is active: the two are one status to people. */
const shownAs = (state: string) => (state === 'hired' ? 'active' : state);

interface BadgeProps {
  state: string;
  /** The brand has to act, which the status does not say by itself. */
  isWaiting?: boolean;
}

/** A status in words; its colour only repeats them. */
export function Badge({ state, isWaiting = false }: BadgeProps) {
  const tone = isWaiting ? 'wait' : (TONES[shownAs(state)] ?? 'quiet');
  return <span className={`badge ${tone}`}>{words(shownAs(state))}</span>;
}

/** Content only for people who may call the operation. */
export function IfMay({ needs, children }: { needs: OperationId; children: ReactNode }) {
  return useMay()(needs) && children;
}

interface ButtonProps {
  children: ReactNode;
  onPress?: () => void;
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  type?: 'button' | 'submit';
  /** The form's field that it sets, and the value; by default, a box that is ticked. */
  name?: string;
  value?: string | undefined;
  isBusy?: boolean;
  isDisabled?: boolean;
  label?: string;
  /** True while the part that it opens is open. */
  isExpanded?: boolean;
  /** The operation that it calls or leads to. It is hidden from people who may not call it. */
  needs?: OperationId;
}

export function Button(props: ButtonProps) {
  const {
    children,
    onPress,
    kind = 'plain',
    type = 'button',
    name,
    value = 'on',
    isBusy,
    isDisabled,
    label,
    isExpanded,
    needs,
  } = props;
  const button = (
    <button
      type={type === 'submit' ? 'submit' : 'button'}
      name={name}
      value={name && value}
      className={`button ${kind}`}
      onClick={onPress}
      disabled={isDisabled || isBusy}
      aria-busy={isBusy}
      aria-label={label}
      aria-expanded={isExpanded}
    >
      {children}
    </button>
  );
  return needs ? <IfMay needs={needs}>{button}</IfMay> : button;
}

interface StatProps {
  label: string;
  value: ReactNode;
  note?: ReactNode;
  /** A sentence that says what it counts if another page's figure of this name differs. */
  why?: string | undefined;
}

/** A figure with a note, such as the change from the previous period. */
export function Stat({ label, value, note, why }: StatProps) {
  return (
    <div className="stat">
      <dt>
        {label}
        {why !== undefined && <Why of={label}>{why}</Why>}
      </dt>
      <dd>{value}</dd>
      {note && <dd className="note">{note}</dd>}
    </div>
  );
}

/** Brief ones stand above a list: a phone shows their figures in one row, without notes. */
export function Stats({ children, isBrief = false }: { children: ReactNode; isBrief?: boolean }) {
  return <dl className={isBrief ? 'stats brief' : 'stats'}>{children}</dl>;
}

/** A value that an item does not have is left out. */
const isGiven = (value: ReactNode) =>
  value !== null &&
  value !== undefined &&
  value !== false &&
  value !== '' &&
  value !== '–' &&
  !(Array.isArray(value) && value.length === 0);

/** Text without spaces, such as an address or a handle, stays on one line, and is whole where the pointer rests on it. */
export const oneLine = (of: ReactNode, className: string) =>
  typeof of === 'string' && /^\S+$/.test(of) ? { className: `${className} one-line`, title: of } : { className };

/** A long address may break after its signs rather than within a word. */
export const breakable = (of: ReactNode): ReactNode =>
  typeof of === 'string' && /^\S{20,}$/.test(of)
    ? of.split(/(?<=[@/?&=._-])(?![@/?&=._-])/).map((part, place) => (
        <Fragment key={`${place} ${part}`}>
          {place > 0 && <wbr />}
          {part}
        </Fragment>
      ))
    : of;

/** Names and values of one item. */
export function Facts({ of }: { of: readonly (readonly [label: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => isGiven(value))
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{breakable(value)}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="strong">{title}</p>
      {children && <div>{children}</div>}
    </div>
  );
}

export function Failure({ error, again }: { error: Error; again?: () => void }) {
  return (
    <div className="failure" role="alert">
      <p>
        {error.message}
        <Help of={error} />
      </p>
      {again && <Button onPress={again}>Try again</Button>}
    </div>
  );
}

/** As tall as the expected content, so that nothing jumps. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div className="loading" role="status">
      <span className="sr-only">Loading</span>
      {Array.from({ length: rows }, (_, i) => `row ${i}`).map((name) => (
        <span key={name} className="bone" />
      ))}
    </div>
  );
}

/** A row's action on a phone, which has no column for it. */
export function OnPhone({ children }: { children: ReactNode }) {
  return (
    <div className="narrow">
      <div className="row">{children}</div>
    </div>
  );
}

interface CopyProps {
  text: string;
  label: string;
  /** The words on the button, where "Copy" alone would not say what is copied. */
  shown?: string;
  kind?: 'primary' | 'plain';
}

export function Copy({ text, label, shown = 'Copy', kind = 'plain' }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  const say = useSay();
  const copy = async () => {
    if (!(await copied(text))) return say(NOT_COPIED);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Button kind={kind} onPress={() => void copy()} label={isCopied ? 'Copied' : label}>
      {isCopied ? 'Copied' : shown}
    </Button>
  );
}
