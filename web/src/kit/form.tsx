import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { CallError, type OperationId } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { Dialog } from './dialog.tsx';
import { Button, Facts } from './parts.tsx';
import { isPickerKind, Picker, type PickerKind } from './picker.tsx';

export interface Field {
  name: string;
  label: string;
  kind?: 'text' | 'email' | 'number' | 'date' | 'url' | 'textarea' | 'select' | 'checkbox' | 'password' | PickerKind;
  options?: readonly (readonly [value: string, label: string])[];
  isRequired?: boolean;
  hint?: ReactNode;
  value?: string | number | boolean | null;
  step?: string;
}

/** The creator that a form is about. */
export const creatorField = (value?: string | null): Field => ({
  name: 'creator_email',
  label: 'Creator',
  kind: 'creator',
  isRequired: true,
  value: value ?? null,
});

/** The campaign that the form's item belongs to. */
export const campaignField = (value?: string | null): Field => ({
  name: 'campaign_id',
  label: 'Campaign',
  kind: 'campaign',
  value: value ?? null,
});

/** The values of a form, read by name and kind. Blank text counts as missing. */
export class Values {
  readonly #data: FormData;
  constructor(data: FormData) {
    this.#data = data;
  }
  text(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? value.trim() : '';
  }
  some(name: string): string | undefined {
    return this.text(name) || undefined;
  }
  orNull(name: string): string | null {
    return this.text(name) || null;
  }
  number(name: string): number {
    return Number(this.text(name).replace(',', '.'));
  }
  someNumber(name: string): number | undefined {
    return this.text(name) === '' ? undefined : this.number(name);
  }
  isChecked(name: string): boolean {
    return this.#data.get(name) !== null;
  }
  choice<T extends string>(name: string, among: readonly [T, ...T[]]): T {
    return among.find((one) => one === this.text(name)) ?? among[0];
  }
  lines(name: string): string[] {
    return this.text(name)
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  }
  list(name: string): string[] {
    return this.text(name)
      .split(/[\n,]/)
      .map((part) => part.trim())
      .filter(Boolean);
  }
}

function Control({ field, id, problem }: { field: Field; id: string; problem: string | undefined }) {
  const { kind = 'text', name, isRequired, value, hint } = field;
  const described = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined;
  const common = {
    id,
    name,
    required: isRequired,
    'aria-describedby': described,
    'aria-invalid': problem ? true : undefined,
  };
  const text = value === null || value === undefined ? '' : String(value);
  if (isPickerKind(kind)) {
    const isInvalid = problem !== undefined;
    return (
      <Picker
        kind={kind}
        id={id}
        name={name}
        isRequired={isRequired}
        isInvalid={isInvalid}
        value={text}
        describedBy={described}
      />
    );
  }
  if (kind === 'checkbox') return <input type="checkbox" {...common} defaultChecked={value === true} />;
  if (kind === 'textarea') return <textarea rows={4} {...common} defaultValue={text} />;
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
  return (
    <input
      type={kind}
      {...common}
      defaultValue={text}
      step={kind === 'number' ? (field.step ?? 'any') : undefined}
      autoComplete={kind === 'password' ? 'off' : undefined}
    />
  );
}

export function FieldRow({ field, problem }: { field: Field; problem?: string | undefined }) {
  const id = useId();
  const isBox = field.kind === 'checkbox';
  return (
    <div className={isBox ? 'field box' : 'field'}>
      <label htmlFor={id}>
        {field.label}
        {!field.isRequired && !isBox && <span className="optional"> optional</span>}
      </label>
      {problem && (
        <p className="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      <Control field={field} id={id} problem={problem} />
      {field.hint && (
        <p className="hint" id={`${id}-hint`}>
          {field.hint}
        </p>
      )}
    </div>
  );
}

/** Fields that belong together, under a heading. */
export interface Group {
  /** Stays with the group when an earlier group is removed. */
  key: string;
  legend: string;
  fields: readonly Field[];
  onRemove?: () => void;
}

interface FormProps {
  fields: readonly Field[];
  /** Shown after the fields. */
  groups?: readonly Group[];
  action: string;
  onSubmit: (values: Values) => Promise<unknown>;
  children?: ReactNode;
  onCancel?: () => void;
  /** Clears the form after sending, for another entry. */
  isEmptied?: boolean;
  kind?: 'primary' | 'plain';
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

const listFields = ({ fields, groups = [] }: Pick<FormProps, 'fields' | 'groups'>) => [
  ...fields,
  ...groups.flatMap((group) => group.fields),
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
  group: Group;
  findProblem: (field: Field) => string | undefined;
}

function Grouped({ group: { legend, fields, onRemove }, findProblem }: GroupedProps) {
  return (
    <fieldset className="group">
      <legend>{legend}</legend>
      {fields.map((field) => (
        <FieldRow key={field.label} field={field} problem={findProblem(field)} />
      ))}
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

const toText = (data: FormData) => JSON.stringify([...data]);

/** Errors are shown next to their fields, with the API's messages. */
function FilledIn(props: FilledInProps) {
  const { fields, groups = [], action, onSubmit, children, onCancel, isEmptied, kind = 'primary' } = props;
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const sent = new FormData(form);
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(new Values(sent));
      // A text that was typed in the meantime stays.
      if (isEmptied && toText(new FormData(form)) === toText(sent)) form.reset();
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error('Something went wrong. Try again.'));
    } finally {
      setBusy(false);
    }
  }
  const problems = error instanceof CallError ? error.problems : [];
  const findProblem = ({ name }: Field) => problems.find(({ field }) => matchesField(name, field))?.message;
  const isElsewhere = error !== undefined && !listFields(props).some((field) => findProblem(field));
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      {error && (
        <p className="problem summary" role="alert">
          {isElsewhere ? error.message : 'Correct the fields marked below.'}
        </p>
      )}
      {fields.map((field) => (
        <FieldRow key={field.name} field={field} problem={findProblem(field)} />
      ))}
      {groups.map((group) => (
        <Grouped key={group.key} group={group} findProblem={findProblem} />
      ))}
      {children}
      <div className="popup-foot">
        {onCancel && <Button onPress={onCancel}>Cancel</Button>}
        <Button kind={kind} type="submit" isBusy={isBusy}>
          {action}
        </Button>
      </div>
    </form>
  );
}

interface FormDialogProps extends FormProps {
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
