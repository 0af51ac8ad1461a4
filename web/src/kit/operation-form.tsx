import { type DeclaredField, forms } from 'virtual:forms';
import { type ReactNode, useState } from 'react';
import type { Answer, Body, OperationId, Params } from '../call/call.ts';
import { useSend } from '../call/use.ts';
import { differing, isByLine, type ReadBody, readFields, toInputValue, valueAt } from './declared.ts';
import { Dialog } from './dialog.tsx';
import { type Field, type FieldGroup, Form, type FormProps, type Values } from './form.tsx';
import { currencyName, fieldName, words } from './format.ts';
import { Button } from './parts.tsx';
import { platformName } from './platforms.ts';

type Name<Id extends OperationId> = keyof Body<Id> & string;
type Path<Id extends OperationId> = Name<Id> | `${Name<Id>}.${string}`;

/** The page’s own words for a field, where it knows better than the declaration. */
interface Wording extends Partial<Omit<Field, 'name' | 'options' | 'value'>> {
  /** The values of a list in words; the others are as the API calls them. */
  labels?: Readonly<Record<string, string>>;
  /** In place of the declared values. */
  options?: Exclude<Field['options'], undefined>;
  /** A day that is included whole. */
  isLastDay?: boolean;
  /** The words that follow the values of other fields, such as the kind of pay; null hides the field. */
  follows?: (valueAt: (path: string) => string) => Partial<Field> | null;
}

interface Worded<Id extends OperationId> extends Wording {
  name: Path<Id>;
}

export interface OperationFormProps<Id extends OperationId>
  extends Omit<FormProps, 'fields' | 'more' | 'onSubmit' | 'needs'> {
  operation: Id;
  params?: Params<Id>;
  /** The item that the form changes: only what differs from it is sent. */
  item?: object;
  /** Values that a new item begins with. */
  start?: object;
  /** The fields in their order. Those that are declared and not named here are folded away, below. */
  fields: readonly (Path<Id> | Worded<Id>)[];
  /** Fields that the page sets itself, or that people do not need. */
  omits?: readonly Path<Id>[];
  /** Fields whose inputs are among `groups` or `children`. */
  brings?: readonly Name<Id>[];
  /** Parts of which the operation takes some and keeps the others. */
  merges?: readonly Name<Id>[];
  /** Sent as well, without an input. */
  fixed?: Partial<Body<Id>> | ((body: ReadBody) => Partial<Body<Id>>);
  /** The queries that show the change. */
  shown: readonly OperationId[];
  onDone: (answer: Answer<Id>) => unknown;
}

/** Labels of fields that are called alike in every operation, where the name says less. */
const LABELS: Readonly<Record<string, string>> = {
  creator_email: 'Creator',
  campaignId: 'Campaign',
  content_type: 'Content type',
  product_description: 'Contents',
  estimated_arrival: 'Expected on',
  usage_rights: 'Rights',
  do_not: 'What to avoid',
  mood_board_urls: 'Mood board',
  commission_rate: 'Commission, in percent',
  hold_days: 'Review period, in days',
  attribution_days: 'Attribution window, in days',
  pays_renewals: 'Also pay on subscription renewals',
  destination_url: 'Destination',
  forward_parameters: 'Parameters of the short link reach the destination',
  integration_id: 'Store',
  ig_handle: 'Instagram handle',
  tt_handle: 'TikTok handle',
  send_email: 'Email the creator',
  notify_creator: 'Email the creator',
  line2: 'Apt, suite',
  zip: 'Postal code',
  sku: 'SKU',
};

const PICKERS: Readonly<Record<string, Field['kind']>> = {
  creator_email: 'creator',
  campaign_id: 'campaign',
  campaignId: 'campaign',
};

/** Descriptions that speak to programs are not shown to people. */
const toHint = ({ about }: DeclaredField) => (about && !/`|null|omitted/.test(about) ? about : undefined);

const currencyOptions = (own: unknown) =>
  [...new Set([...(typeof own === 'string' ? [own] : []), ...Intl.supportedValuesOf('currency')])]
    .sort()
    .map((code) => [code, currencyName(code)] as const);

interface Placed {
  declared: DeclaredField;
  path: string;
}

const find = (fields: readonly DeclaredField[], path: string): DeclaredField | undefined => {
  const [name, ...rest] = path.split('.');
  const field = fields.find((one) => one.name === name);
  return rest.length === 0 ? field : find(field?.fields ?? [], rest.join('.'));
};

/** The last part of a path, which the form shows as the label's words. */
const lastName = (path: string) => path.split('.').at(-1) ?? path;

interface ValueSource {
  item: object | undefined;
  start: object | undefined;
}

function toOptions(declared: DeclaredField, worded: Wording, value: unknown, isRequired: boolean) {
  const values = worded.options ?? (declared.name === 'currency' ? currencyOptions(value) : undefined);
  const options =
    values ??
    declared.values?.map((one) => {
      const label = declared.name === 'platform' ? platformName(one) : words(one);
      return [one, worded.labels?.[one] ?? label] as const;
    });
  if (options === undefined || isRequired) return options;
  return [['', worded.labels?.[''] ?? 'Not specified'] as const, ...options];
}

/** One input. `isSettled`: something must be in it, because a change cannot take it away. */
function toField(
  { declared, path }: Placed,
  { follows: _follows, ...worded }: Wording,
  { item, start }: ValueSource,
  isFolded: boolean,
): Field {
  const isPart = path.includes('.') && !/\.\d+\./.test(path);
  const value = valueAt(item, path) ?? valueAt(start, path) ?? (item || isPart ? undefined : declared.value);
  const isSettled = item !== undefined && !declared.isNullable && (value ?? '') !== '' && declared.kind !== 'list';
  const isSelect = declared.kind === 'select' || declared.name === 'currency' || worded.options !== undefined;
  const isText = !['list', 'pairs', 'checkbox'].includes(declared.kind);
  const hasDefault = isText && !isPart && declared.value !== undefined;
  const isRequired = worded.isRequired ?? ((declared.isRequired === true && !isPart) || isSettled || hasDefault);
  const options = isSelect ? toOptions(declared, worded, value, isRequired) : undefined;
  const isLong = isByLine(declared);
  const kind = PICKERS[declared.name] ?? (isSelect ? 'select' : undefined);
  const hint = declared.kind === 'list' ? (isLong ? 'One per line.' : 'Separate with commas.') : undefined;
  return {
    ...declared,
    label: LABELS[declared.name] ?? fieldName(lastName(path)),
    hint: hint ?? (isFolded ? toHint(declared) : undefined),
    ...worded,
    name: path,
    kind: worded.kind ?? kind ?? toInputKind(declared.kind, isLong),
    isRequired: isRequired && declared.kind !== 'checkbox',
    value: toInputValue(declared, value),
    ...(options ? { options } : {}),
  };
}

function toInputKind(kind: DeclaredField['kind'], isLong: boolean): Exclude<Field['kind'], undefined> {
  if (kind === 'moment') return 'date';
  if (kind === 'list' || kind === 'pairs') return isLong ? 'textarea' : 'text';
  return kind === 'group' || kind === 'groups' ? 'text' : kind;
}

/** `Deliverable` for `deliverables`. */
const toSingular = (name: string) => fieldName(name).replace(/s$/, '');

interface GroupEntry {
  key: string;
  value: unknown;
}

/** The entries of each list of groups, such as a contract's deliverables. */
function useEntries(declared: readonly DeclaredField[], { item, start }: ValueSource) {
  const toEntry = (value: unknown): GroupEntry => ({ key: crypto.randomUUID(), value });
  const [entries, setEntries] = useState<Readonly<Record<string, readonly GroupEntry[]>>>(() =>
    Object.fromEntries(
      declared
        .filter(({ kind }) => kind === 'groups')
        .map(({ name }) => {
          const values = valueAt(item, name) ?? valueAt(start, name);
          return [name, Array.isArray(values) ? values.map(toEntry) : []];
        }),
    ),
  );
  return {
    entriesAt: (path: string) => entries[path] ?? [],
    add: (path: string) => setEntries((all) => ({ ...all, [path]: [...(all[path] ?? []), toEntry({})] })),
    remove: (path: string, removedKey: string) =>
      setEntries((all) => ({ ...all, [path]: (all[path] ?? []).filter(({ key }) => key !== removedKey) })),
  };
}

type Entries = ReturnType<typeof useEntries>;

interface Layout {
  fields: Field[];
  groups: FieldGroup[];
}

interface LayOut {
  placed: readonly Placed[];
  worded: ReadonlyMap<string, Wording>;
  omitted: ReadonlySet<string>;
  source: ValueSource;
  entries: Entries;
  isFolded: boolean;
}

/** Inputs, and groups of them, for declared fields. */
function layOut({ placed, worded, omitted, source, entries, isFolded }: LayOut): Layout {
  const layout: Layout = { fields: [], groups: [] };
  const order = [...worded.keys()];
  const toPlace = (path: string) => order.indexOf(path.replace(/\.\d+\./g, '.'));
  const inputs = (fields: readonly DeclaredField[], prefix: string, of: ValueSource): Field[] =>
    fields
      .map((declared) => ({ declared, path: `${prefix}.${declared.name}` }))
      .filter(({ path }) => !omitted.has(path))
      .sort((one, other) => toPlace(one.path) - toPlace(other.path))
      .flatMap((one) => toInputs(one, of));
  const toInputs = (one: Placed, of: ValueSource): Field[] => {
    const { declared, path } = one;
    const own = worded.get(path.replace(/\.\d+\./g, '.')) ?? {};
    if (declared.kind === 'list' && declared.values) return toBoxes(one, own, of);
    return [toField(one, own, of, isFolded)];
  };
  for (const one of placed) {
    const { declared, path } = one;
    const legend = worded.get(path)?.label ?? LABELS[declared.name] ?? fieldName(path);
    const place = isFolded ? {} : { after: layout.fields.map(({ name }) => name) };
    if (declared.kind === 'group') {
      layout.groups.push({ key: path, legend, fields: inputs(declared.fields ?? [], path, source), ...place });
    } else if (declared.kind === 'groups') {
      for (const [index, { key, value }] of entries.entriesAt(path).entries()) {
        const prefix = `${path}.${index}`;
        const fields = inputs(declared.fields ?? [], prefix, { item: undefined, start: nest(path, index, value) });
        const name = `${toSingular(path)} ${index + 1}`;
        layout.groups.push({ key, legend: name, fields, onRemove: () => entries.remove(path, key), ...place });
      }
      const label = `Add a ${toSingular(path).toLowerCase()}`;
      const foot = <Button onPress={() => entries.add(path)}>{label}</Button>;
      layout.groups.push({ key: `${path} add`, legend, fields: [], foot: <div>{foot}</div>, ...place });
    } else if (declared.kind === 'list' && declared.values) {
      layout.groups.push({ key: path, legend, fields: toInputs(one, source), ...place });
    } else layout.fields.push(...toInputs(one, source));
  }
  return layout;
}

/** An entry at its place, as `valueAt` finds it. */
const nest = (path: string, place: number, value: unknown) => ({ [path]: { [place]: value } });

/** A box for each value of a closed list. */
function toBoxes({ declared, path }: Placed, { labels }: Wording, source: ValueSource): Field[] {
  const initial = valueAt(source.item, path) ?? valueAt(source.start, path) ?? declared.value;
  return (declared.values ?? []).map((value) => ({
    name: `${path}.${value}`,
    label: labels?.[value] ?? (declared.name === 'platforms' ? platformName(value) : value),
    kind: 'checkbox',
    value: Array.isArray(initial) && initial.includes(value),
  }));
}

/** The fields that the page names, in its order, and the others, which are folded away. */
function placeFields(
  declared: readonly DeclaredField[],
  worded: ReadonlyMap<string, Wording>,
  hidden: ReadonlySet<string>,
): { namedFields: Placed[]; foldedFields: Placed[] } {
  const isNamed = (path: string) => [...worded.keys()].some((name) => name === path || name.startsWith(`${path}.`));
  const namedFields = [...worded.keys()].flatMap((path): Placed[] => {
    const field = find(declared, path);
    // The words of a part, such as `deliverables.type`, do not place it where its group is named.
    const isOfGroup = declared.some(
      ({ name, kind }) => path.startsWith(`${name}.`) && (kind === 'groups' || worded.has(name)),
    );
    return field && !isOfGroup ? [{ declared: field, path }] : [];
  });
  const foldedFields = declared.flatMap(({ name, fields: parts = [], ...field }): Placed[] => {
    if (hidden.has(name) || worded.has(name)) return [];
    if (!isNamed(name)) return [{ declared: { name, fields: parts, ...field }, path: name }];
    const otherParts = field.kind === 'group' ? parts.filter((part) => !isNamed(`${name}.${part.name}`)) : [];
    return otherParts.map((part) => ({ declared: part, path: `${name}.${part.name}` }));
  });
  return { namedFields, foldedFields };
}

/** A form of one operation. Labels, kinds, limits and closed lists come from the operation's declaration. */
export function OperationForm<Id extends OperationId>(props: OperationFormProps<Id>) {
  const {
    operation,
    params,
    item,
    start,
    fields,
    omits = [],
    brings = [],
    merges,
    fixed,
    shown,
    onDone,
    ...form
  } = props;
  const declared = forms[operation] ?? [];
  const source: ValueSource = { item, start };
  const entries = useEntries(declared, source);
  const change = useSend(operation, shown);
  const worded = new Map<string, Wording>(
    fields.map((field) => (typeof field === 'string' ? [field, {}] : [field.name, field])),
  );
  const omitted = new Set<string>([...omits, ...(typeof fixed === 'object' ? Object.keys(fixed) : [])]);
  const { own } = form;
  const elsewhere = new Set<string>([...brings, ...(form.actions ?? []).map(([name]) => name)]);
  if (own) omitted.add(own.name);
  const { namedFields, foldedFields } = placeFields(declared, worded, new Set([...omitted, ...elsewhere]));
  const common = { worded, omitted, source, entries };
  const [values, setValues] = useState<Values>();
  const typedAt = (path: string) => values?.text(path) ?? String(valueAt(item, path) ?? valueAt(start, path) ?? '');
  const withFollowing = (field: Field): Field[] => {
    const follows = worded.get(field.name)?.follows?.(typedAt);
    return follows === null ? [] : [{ ...field, ...follows }];
  };
  const isFollowed = [...worded.values()].some(({ follows }) => follows);
  const main = layOut({ ...common, placed: namedFields, isFolded: false });
  const more = layOut({ ...common, placed: foldedFields, isFolded: true });
  const lastDays = new Set([...worded].filter(([, { isLastDay }]) => isLastDay).map(([path]) => path));
  const sentFields = declared.filter(({ name }) => !omitted.has(name));
  const readForm = ({ data }: Values) => readFields(sentFields, { data, lastDays, isChange: item !== undefined });
  async function submit(values: Values, was: Values) {
    const whole = readForm(values);
    const body = item === undefined ? whole : differing(sentFields, whole, readForm(was), merges);
    const rest = typeof fixed === 'function' ? fixed(whole) : fixed;
    const isUnchanged = item !== undefined && own === undefined && Object.keys(body).length === 0;
    const ownBody = own && { [own.name]: own.read() };
    const input = { ...(params ? { params } : {}), body: { ...body, ...ownBody, ...rest } };
    if (!isUnchanged) await onDone(await change.mutateAsync(input));
    else await form.onCancel?.();
  }
  return (
    <Form
      {...form}
      needs={operation}
      fields={main.fields.flatMap(withFollowing)}
      {...(isFollowed ? { onValues: setValues } : {})}
      groups={[...main.groups, ...(form.groups ?? [])]}
      more={more}
      onSubmit={submit}
    />
  );
}

interface OperationDialogProps<Id extends OperationId> extends OperationFormProps<Id> {
  title: string;
  hint?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  /** Above the form, such as a choice that its fields follow. */
  head?: ReactNode;
}

/** A form of one operation in a dialog, which closes once it is done. */
export function OperationDialog<Id extends OperationId>(props: OperationDialogProps<Id>) {
  const { title, hint, isOpen, onClose, head, ...form } = props;
  return (
    <Dialog title={title} hint={hint} isOpen={isOpen} onClose={onClose}>
      {head}
      <OperationForm {...form} onCancel={onClose} />
    </Dialog>
  );
}
