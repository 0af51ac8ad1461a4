import { type FormEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { CallError, type OperationId, type Problem } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { Dialog, FIELDS, isTouched } from './dialog.tsx';
import { Help } from './help.tsx';
import { Button, Facts } from './parts.tsx';
import { CreatorsPicker, isPickerKind, Picker, type PickerKind } from './picker.tsx';

export interface Field {
  name: string;
  label: string;
  kind?:
    | 'text'
    | 'email'
    | 'number'
    | 'date'
    | 'url'
    | 'textarea'
    | 'select'
    | 'checkbox'
    | 'password'
    | 'time'
    | 'creators'
    | PickerKind;
  options?: readonly (readonly [value: string, label: string])[];
  isRequired?: boolean;
  hint?: ReactNode;
  value?: string | number | boolean | null;
  step?: string;
  min?: number;
  max?: number;
  maxLength?: number;
  /** Stands before what is typed, such as the beginning of an address. */
  prefix?: string;
  /** Stands behind it, such as a percent sign. */
  unit?: string;
  /** True if a dialog has it beside the field before it, such as a currency beside its amount. */
  isBeside?: boolean;
  /** Stands above it, where a new part of a long form begins. */
  heading?: string;
  /** The value stays and is sent, but has no effect now. */
  isReadOnly?: boolean;
  /** Called with the creators that are chosen, each time that they change. */
  onChosen?: (emails: readonly string[]) => void;
}

/** The values of a form by name. Blank text counts as missing. */
export class Values {
  readonly data: FormData;
  constructor(data: FormData) {
    this.data = data;
  }
  text(name: string): string {
    const value = this.data.get(name);
    return typeof value === 'string' ? value.trim() : '';
  }
  some(name: string): string | undefined {
    return this.text(name) || undefined;
  }
}

/** What an input takes from the label, the error and the hint around it. */
export interface LabelledInput {
  id: string;
  required: boolean | undefined;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

function Control({ field, common: labelled }: { field: Field; common: LabelledInput }) {
  const { kind = 'text', name, isRequired, value, maxLength, min, max, step = 'any', prefix, unit } = field;
  const { id, 'aria-describedby': described, 'aria-invalid': isInvalid = false } = labelled;
  const common = { ...labelled, name };
  const text = value === null || value === undefined ? '' : String(value);
  const picker = { id, name, isRequired, isInvalid, value: text, describedBy: described };
  if (kind === 'creators') return <CreatorsPicker {...picker} onChosen={field.onChosen} />;
  if (isPickerKind(kind)) return <Picker kind={kind} {...picker} />;
  if (kind === 'checkbox') return <input type="checkbox" {...common} defaultChecked={value === true} />;
  if (kind === 'textarea') return <textarea rows={4} {...common} maxLength={maxLength} defaultValue={text} />;
  if (kind === 'select') {
    return (
      <select {...common} defaultValue={text}>
        {(field.options ?? []).map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  const input = (
    <input
      type={kind}
      {...common}
      defaultValue={text}
      maxLength={maxLength}
      readOnly={field.isReadOnly}
      {...(kind === 'number' ? { step, min, max } : {})}
      autoComplete={kind === 'password' ? 'off' : undefined}
    />
  );
  if (prefix === undefined && unit === undefined) return input;
  return (
    <span className="affixed">
      {prefix !== undefined && <span aria-hidden>{prefix}</span>}
      {input}
      {unit !== undefined && <span aria-hidden>{unit}</span>}
    </span>
  );
}

interface LabelledProps {
  label: string;
  isRequired?: boolean | undefined;
  isBox?: boolean;
  isBeside?: boolean | undefined;
  hint?: ReactNode;
  problem?: string | undefined;
  children: (input: LabelledInput) => ReactNode;
}

/** A label, an error and a hint around one input. */
export function Labelled(props: LabelledProps) {
  const { label, isRequired, isBox = false, isBeside = false, hint, problem, children } = props;
  const id = useId();
  const name = <label htmlFor={id}>{label}</label>;
  return (
    <div className={['field', isBox && 'box', isBeside && 'beside-it'].filter(Boolean).join(' ')}>
      {isRequired || isBox ? (
        name
      ) : (
        <div>
          {name}
          <span className="optional"> optional</span>
        </div>
      )}
      {problem && (
        <p className="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      {children({
        id,
        required: isRequired,
        'aria-describedby': [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined,
        'aria-invalid': problem ? true : undefined,
      })}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function FieldRow({ field, problem }: { field: Field; problem?: string | undefined }) {
  const { label, isRequired, hint, kind, isBeside } = field;
  const isBox = kind === 'checkbox';
  return (
    <Labelled label={label} isRequired={isRequired} isBox={isBox} isBeside={isBeside} hint={hint} problem={problem}>
      {(common) => <Control field={field} common={common} />}
    </Labelled>
  );
}

/** Fields that belong together, under a heading. */
export interface FieldGroup {
  /** Stays with the group when an earlier group is removed. */
  key: string;
  legend: string;
  fields: readonly Field[];
  onRemove?: () => void;
  /** Follows the fields, such as a button that adds another group. */
  foot?: ReactNode;
  /** The names of the fields before it; by default, all fields. */
  after?: readonly string[];
}

/** A field with inputs of its own, such as terms. It shows the errors of its parts itself. */
export interface OwnInputs {
  name: string;
  render: (problems: readonly Problem[]) => ReactNode;
  read: () => unknown;
}

interface FieldsProps {
  fields: readonly Field[];
  /** Shown after the fields. */
  groups?: readonly FieldGroup[];
}

export interface FormProps extends FieldsProps {
  /** Fields that few need; they are folded away. */
  more?: FieldsProps;
  action: string;
  /** Other buttons that submit; each sets its field, to a value or as a box. The last one is the main one. */
  actions?: readonly (readonly [name: string, label: string, value?: string])[];
  /** Buttons of another kind in the foot: before the one that submits, or after it if that one is not the main one. */
  beside?: ReactNode;
  /** Called with the values after each change of one. */
  onValues?: (values: Values) => void;
  /** `was` has the values from before anything was typed. */
  onSubmit: (values: Values, was: Values) => Promise<unknown>;
  /** Stands after the fields. */
  own?: OwnInputs | undefined;
  children?: ReactNode;
  onCancel?: () => void;
  /** True while something is missing that a hint names; it cannot be sent yet. */
  isBlocked?: boolean;
  /** Clears the form after sending, for another entry. */
  isEmptied?: boolean;
  kind?: 'primary' | 'plain' | 'danger';
  /** The operation that it calls. People who may not call it see text instead of fields. */
  needs?: OperationId;
}

/**
 * True if an error's field belongs to this input: `settings.currency` matches that field, else `currency`; an error
 * about an item of a list matches the list's field.
 */
function matchesField(name: string, field: string): boolean {
  const path = field.replace(/\.\d+$/, '');
  return path === name || path.split('.').at(-1) === name;
}

const listFields = ({ fields, groups = [], more }: FieldsProps & Pick<FormProps, 'more'>): Field[] => [
  ...fields,
  ...groups.flatMap((group) => group.fields),
  ...(more ? listFields(more) : []),
];

function inWords({ kind, value, options }: Field): string {
  if (kind === 'checkbox') return value === true ? 'Yes' : 'No';
  const text = String(value ?? '');
  return options?.find(([one]) => one === text)?.[1] ?? text;
}

/** A form's values as text, for people who may not change them. */
function AsText({ fields }: { fields: readonly Field[] }) {
  return <Facts of={fields.map((field) => [field.label, inWords(field)] as const)} />;
}

/** A form for people who may submit it; for others the text of its fields. */
export function Form({ needs, ...form }: FormProps) {
  return needs === undefined ? <FilledIn {...form} /> : <ByRole {...form} needs={needs} />;
}

type FilledInProps = Omit<FormProps, 'needs'>;

/** Separate, because a person who is signing in has no role yet. */
function ByRole({ needs, ...form }: FilledInProps & { needs: OperationId }) {
  return useMay()(needs) ? <FilledIn {...form} /> : <AsText fields={listFields(form)} />;
}

interface GroupedProps {
  group: FieldGroup;
  findProblem: FindProblem;
}

function Grouped({ group: { legend, fields, onRemove, foot }, findProblem }: GroupedProps) {
  if (fields.length === 0) return foot;
  return (
    <fieldset className="group">
      <legend>{legend}</legend>
      {fields.map((field) => (
        <FieldRow key={field.name} field={field} problem={findProblem(field)} />
      ))}
      {foot}
      {onRemove && (
        <div>
          <Button onPress={onRemove} label={`Remove ${legend}`}>
            Remove
          </Button>
        </div>
      )}
    </fieldset>
  );
}

type FindProblem = (field: Field) => string | undefined;

function AllFields({ fields, groups = [], findProblem }: FieldsProps & { findProblem: FindProblem }) {
  const toPlace = ({ after }: FieldGroup) =>
    after ? fields.findLastIndex(({ name }) => after.includes(name)) : fields.length - 1;
  const showGroups = (place: number) =>
    groups
      .filter((group) => toPlace(group) === place)
      .map((group) => <Grouped key={group.key} group={group} findProblem={findProblem} />);
  // One list, so that a group keeps its values when a field before it comes or goes.
  return [
    ...showGroups(-1),
    ...fields.flatMap((field, place) => [
      field.heading !== undefined && (
        <h2 key={field.heading} className="form-part">
          {field.heading}
        </h2>
      ),
      <FieldRow key={field.name} field={field} problem={findProblem(field)} />,
      ...showGroups(place),
    ]),
  ];
}

/** Unfolds itself for a field that the browser or the API refuses. */
function MoreFields({ of, findProblem }: { of: FieldsProps; findProblem: FindProblem }) {
  const [isOpen, setOpen] = useState(false);
  const isRefused = listFields(of).some((field) => findProblem(field));
  return (
    <details
      className="more-fields"
      open={isOpen || isRefused}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      onInvalidCapture={() => setOpen(true)}
    >
      <summary>More options</summary>
      <AllFields {...of} findProblem={findProblem} />
    </details>
  );
}

/**
 * A form that a button opened is in sight and has the focus; a dialog that opens with its form gives it the focus
 * itself. On a phone, a focused field would bring up the keys at once.
 */
function useFocus(form: RefObject<HTMLFormElement | null>, isOpened: boolean) {
  useEffect(() => {
    const element = form.current;
    if (!element || !isOpened) return;
    const dialog = element.closest('[role="dialog"]');
    const activeElement = document.activeElement;
    // While a dialog opens, its opener still has the focus, and gets it back from the dialog.
    if (dialog && activeElement !== dialog && activeElement !== document.body) return;
    const first = isTouched() ? element : element.querySelector<HTMLElement>(FIELDS);
    first?.focus({ preventScroll: true });
    // A long form's first field, so that the title of its dialog stays in sight where there is room.
    const isShort = element.offsetHeight < window.innerHeight / 2;
    const field = element.querySelector(FIELDS) ?? element;
    (isShort ? element : field).scrollIntoView({ block: 'nearest' });
  }, [form, isOpened]);
}

const toText = (data: FormData) => JSON.stringify([...data]);

/** Errors are shown next to their fields, with the API's messages. */
function FilledIn(props: FilledInProps) {
  const {
    fields,
    groups,
    more,
    action,
    onValues,
    onSubmit,
    own,
    children,
    onCancel,
    isEmptied,
    isBlocked = false,
    kind = 'primary',
    actions = [],
    beside,
  } = props;
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const was = useRef<Values>(undefined);
  useFocus(form, onCancel !== undefined);
  useEffect(() => {
    if (form.current) was.current = new Values(new FormData(form.current));
  }, []);
  // The refused field may be far from the button that was pressed.
  useEffect(() => {
    if (error === undefined) return;
    const firstProblem = form.current?.querySelector('[aria-invalid], .problem:not(.summary)');
    (firstProblem ?? form.current?.querySelector('.problem'))?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const element = event.currentTarget;
    const { submitter } = event.nativeEvent instanceof SubmitEvent ? event.nativeEvent : {};
    const formData = new FormData(element, submitter ?? null);
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(new Values(formData), was.current ?? new Values(formData));
      // A text that was typed in the meantime stays.
      if (isEmptied && toText(new FormData(element)) === toText(formData)) element.reset();
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error('Something went wrong. Try again.'));
    } finally {
      setBusy(false);
    }
  }
  const problems = error instanceof CallError ? error.problems : [];
  const findProblem = ({ name }: Field) => problems.find(({ field }) => matchesField(name, field))?.message;
  const isOfOwn = own !== undefined && problems.some(({ field }) => field.split(/[.[]/)[0] === own.name);
  const isElsewhere = error !== undefined && !isOfOwn && !listFields(props).some((field) => findProblem(field));
  return (
    <form
      ref={form}
      className="form"
      tabIndex={-1}
      onInput={({ currentTarget }) => onValues?.(new Values(new FormData(currentTarget)))}
      onSubmit={(event) => void submit(event)}
    >
      {error && (
        <p className="problem summary" role="alert">
          {isElsewhere ? error.message : 'Correct the fields marked below.'}
          {isElsewhere && error instanceof Error && <Help of={error} />}
        </p>
      )}
      <AllFields fields={fields} {...(groups ? { groups } : {})} findProblem={findProblem} />
      {own?.render(problems)}
      {more && listFields(more).length > 0 && <MoreFields of={more} findProblem={findProblem} />}
      {children}
      <div className="popup-foot">
        {onCancel && <Button onPress={onCancel}>Cancel</Button>}
        {kind === 'primary' && beside}
        <Button kind={actions.length > 0 ? 'plain' : kind} type="submit" isBusy={isBusy} isDisabled={isBlocked}>
          {action}
        </Button>
        {kind !== 'primary' && beside}
        {actions.map(([name, label, value]) => (
          <Button key={name} kind="primary" type="submit" name={name} value={value} isBusy={isBusy}>
            {label}
          </Button>
        ))}
      </div>
    </form>
  );
}

export interface FormDialogProps extends FormProps {
  title: string;
  hint?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
}

export function FormDialog({ title, hint, isOpen, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} hint={hint} isOpen={isOpen} onClose={onClose}>
      <Form {...form} onCancel={onClose} />
    </Dialog>
  );
}
