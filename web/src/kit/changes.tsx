import type { ReactNode } from 'react';
import { day, deadline, fieldName, minorMoney, money, percent, withLocalTimes, words } from './format.ts';
import { type Column, PlainTable } from './table.tsx';

type Fields = Readonly<Record<string, unknown>>;

interface Change {
  /** Null if the record was created. */
  old: Fields | null;
  /** Null if the record was deleted. */
  new: Fields | null;
  /** Fields whose value is not known before the change is made. */
  generated?: readonly string[];
  /** The currency of the amounts, unless a field says it. */
  currency: string;
}

/** Abbreviations and names of columns, in words. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^compensation\./, 'pay '],
  [/\./g, ' '],
  [/_ids$/, 's'],
  [/_(?:at|on|text|ppm)$/, ''],
  [/^(?:ig|photo_app)(?=_|$)/, 'Instagram'],
  [/^(?:tt|video_app)(?=_|$)/, 'TikTok'],
  [/_?(?:photo_app)$/, ' on Instagram'],
  [/_?(?:video_app)$/, ' on TikTok'],
  [/^is_/, ''],
  [/^do_not$/, 'what to avoid'],
  [/^of$/, 'kind of records'],
  [/^brand_unread$/, 'messages to read'],
  [/^creator_unread$/, 'messages for the creator to read'],
  [/^active$/, 'active'],
  [/^disabled_reason$/, 'reason for turning off'],
  [/^profiled$/, 'profile last read'],
  [/^sku$/, 'SKU'],
  [/pfp_url/, 'picture'],
  [/sha256/, 'seal'],
  [/(?:^|_)url(?=_|$)/, ' address'],
  [/(?:^|_)urls(?=_|$)/, ' addresses'],
];

/** A field of a record in words: "Sent" for `sent_at`, "Assets" for `asset_ids`. */
export const recordField = (name: string) =>
  fieldName(WORDS.reduce((text, [is, word]) => text.replace(is, word), name).trim());

/** They say nothing that the record's name and the time of the change do not. */
const HIDDEN: ReadonlySet<string> = new Set([
  ...['id', 'brand_id', 'created_at', 'updated_at', 'purged_at', 'from_at', 'until_at', 'from_seq', 'ledger_seq'],
  ...['storage_key', 'thumbnail_key', 'thumbnail_state', 'thumbnail_retry_at', 'thumbnail_attempts', 'canonical_key'],
  ...['link_version', 'tracking_ref', 'next_refresh_at', 'refresh_began_at', 'profile_retry_at', 'profile_attempts'],
]);

/** Fields whose values are words of the API, such as `revision_requested`. */
const IN_WORDS = /(?:^|_)(?:status|state|type|method|source|provider|role)$/;
const AMOUNT = /(?:^|_)(?:amount|commission|fee)$/;
/** Characters of a value that stands in a line. */
const MOST_INLINE = 24;
const DAY = /^\d{4}-\d\d-\d\d$/;

function toText(name: string, value: unknown, currency: string): string {
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number' && name.endsWith('_minor')) return minorMoney(value, currency);
  if (typeof value === 'number' && name.endsWith('_ppm')) return percent(value / 10_000);
  if (typeof value === 'number' && name.endsWith('_rate')) return percent(value);
  if (typeof value === 'number' && AMOUNT.test(name)) return money(value, currency);
  if (Array.isArray(value)) return value.map((one) => toText(name, one, currency)).join(', ') || '–';
  if (typeof value === 'object') {
    const parts = Object.entries(value).filter(([, one]) => one !== null);
    return parts.map(([key, one]) => `${recordField(key)}: ${toText(key, one, currency)}`).join(', ') || '–';
  }
  const text = String(value);
  if (DAY.test(text)) return day(text);
  if (/deadline$/.test(name)) return deadline(text);
  return IN_WORDS.test(name) ? words(text) : withLocalTimes(text);
}

/** Within a sentence, unless it is a name such as TikTok. */
export const startSmall = (text: string) =>
  /^(?:Instagram|SKU|TikTok|UTM)/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);

/** A value in words, for a line of text; undefined if it is too long for one. */
function describeValue(name: string, value: unknown, currency: string): string | undefined {
  if (typeof value === 'object' && value !== null) return undefined;
  const text = toText(name, value, currency);
  return text.length > MOST_INLINE ? undefined : text;
}

/** A changed field with its values before and after, if they are short, such as "status: Pending → Approved". */
export function describeChange({ old, new: next, currency }: Change, name: string): string {
  const field = startSmall(recordField(name));
  const [was, is] = [old, next].map((fields) => describeValue(name, fields?.[name], currency));
  return was === undefined || is === undefined ? field : `${field}: ${was} → ${is}`;
}

const hasValue = (fields: Fields | null, name: string) => (fields?.[name] ?? null) !== null;

/** A plan also has fields that its amounts are read with, such as their currency, which do not change. */
const isUnchanged = ({ old, new: next }: ChangedFields, name: string) =>
  hasValue(old, name) && JSON.stringify(old?.[name]) === JSON.stringify(next?.[name]);

type ChangedFields = Pick<Change, 'old' | 'new'>;

/** The names of the fields that differ and say something. */
export const changedNames = (change: ChangedFields): string[] =>
  [...new Set([...Object.keys(change.old ?? {}), ...Object.keys(change.new ?? {})])].filter(
    (name) =>
      !HIDDEN.has(name) && !isUnchanged(change, name) && (hasValue(change.old, name) || hasValue(change.new, name)),
  );

/** Each changed field before and after, in words; a new or deleted record shows its values alone. */
export function Changes({ of, caption, shownAs }: ChangesProps) {
  const { old, new: next, generated = [] } = of;
  const currencyIn = (fields: Fields | null) => (typeof fields?.currency === 'string' ? fields.currency : of.currency);
  const renderField = (fields: Fields | null) => (name: string) =>
    fields === next && generated.includes(name)
      ? 'Generated when applied'
      : ((fields?.[name] ?? null) !== null && shownAs?.(name, fields?.[name])) ||
        toText(name, fields?.[name], currencyIn(fields));
  const field: Column<string> = {
    head: 'Field',
    cell: (name) => <span className="field-name">{recordField(name)}</span>,
  };
  const columns: readonly Column<string>[] =
    old !== null && next !== null
      ? [field, { head: 'Before', cell: renderField(old) }, { head: 'After', cell: renderField(next) }]
      : [field, { head: 'Value', cell: renderField(next ?? old) }];
  return <PlainTable caption={caption} rows={changedNames(of)} getKey={(name) => name} columns={columns} />;
}

interface ChangesProps {
  of: Change;
  caption: string;
  /** Shows a value in another way, such as a link to what an id names. */
  shownAs?: (name: string, value: unknown) => ReactNode;
}
