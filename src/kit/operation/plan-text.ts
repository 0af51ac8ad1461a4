import { fromMinor } from '../values/decimals.ts';
import { fromPpm } from '../values/money.ts';
import { isRecord } from '../values/wire.ts';

type Fields = Record<string, unknown>;

interface TextChange {
  resource_id: string;
  old: Fields | null;
  new: Fields | null;
  generated?: string[] | undefined;
}

/** Columns that no answer of the API has. */
const INTERNAL = new Set([
  ...['brand_id', 'slug', 'link_version', 'erased_by', 'deleted_at', 'person_id', 'known_by', 'undone', 'settled_ids'],
  ...[
    'renamed_at',
    'profiled_at',
    'profile_attempts',
    'profile_retry_at',
    'canonical_key',
    'refresh_requested_at',
    'refresh_began_at',
  ],
  ...['storage_key', 'thumbnail_key', 'thumbnail_state', 'thumbnail_attempts', 'thumbnail_retry_at', 'purged_at'],
  ...['rights_notice_days', 'track_at', 'tracking_ref', 'inherits_terms', 'room', 'decided_facts', 'rejected_from'],
  ...[
    'note_before_rejection',
    'from_at',
    'until_at',
    'disconnected_at',
    'is_default',
    'seq_at',
    'alerted',
    'alerted_at',
  ],
  ...['is_slow', 'from_seq', 'secret_hint', 'previous_secret', 'disabled_reason', 'failures_in_row', 'first_failed_at'],
  ...['failing_since', 'storefront_url', 'is_renewal', 'refunded_minor'],
  // Of some rows, by the prefix of their ids.
  ...[
    'app_approved_at',
    'brd_shared',
    'cmp_terms_id',
    'cnt_followers',
    'cnv_email_state',
    'cnv_message_id',
    'cnv_number',
  ],
  ...[
    'com_approved_at',
    'com_hold_days',
    'alr_paused_at',
    'crt_created_at',
    'crt_version',
    'ctr_expired_at',
    'dlv_contract_status',
    'dlv_contract_title',
  ],
  ...[
    'dlv_position',
    'dlv_time_zone',
    'imp_known',
    'grp_terms_id',
    'lnk_terms_id',
    'lst_version',
    'rep_ends_on',
    'rep_paused_at',
    'whk_delivery',
    'whk_test',
  ],
]);

/** Columns whose field of the API has another name, some only in rows whose ids have a prefix. */
const API_NAMES: Readonly<Record<string, string>> = {
  netted: 'netted_amount',
  allocated: 'allocated_amount',
  discount: 'discount_percent',
  from_day: 'from',
  to_day: 'to',
  from_text: 'from',
  to_text: 'to',
  next_refresh_at: 'next_refresh_available',
  alert_every: 'alert.every',
  alert_mail: 'alert.mail',
  compensation_type: 'compensation.type',
  compensation_amount: 'compensation.amount',
  compensation_rate: 'compensation.amount',
  compensation_currency: 'compensation.currency',
  min_order_currency: 'currency',
  brand_unread: 'unread_count',
  hold_ends_at: 'approvable_at',
  store_order_id: 'order_id',
  read_again_since: 'since',
  alr_checked_at: 'last_checked_at',
  alr_dimension: 'by',
  alr_due_at: 'next_at',
  alr_error: 'last_error',
  alr_recipients: 'to',
  alr_span: 'window',
  crt_email: 'creator_email',
  rep_due_at: 'next_at',
  rep_error: 'last_error',
  rep_recipients: 'to',
  rep_sent_at: 'last_sent_at',
  whk_recovered: 'queued',
  whk_resent: 'id',
  rate: 'amount',
  platforms: 'requirements.platforms',
  content_types: 'requirements.content_types',
  min_followers: 'requirements.min_followers',
  deliverables_count: 'requirements.deliverables_count',
  likes: 'metrics.likes',
  saves: 'metrics.saves',
  views: 'metrics.views',
  shares: 'metrics.shares',
  comments: 'metrics.comments',
};

const withPrefix = (resourceId: string, name: string): string => `${resourceId.slice(0, 4)}${name}`;

const isInternal = (resourceId: string, name: string): boolean =>
  INTERNAL.has(name) || INTERNAL.has(withPrefix(resourceId, name));
const SHOWN_FIELDS = 4;

const isCurrency = (name: string): boolean => name === 'currency' || name.endsWith('_currency');

/** The currency of a row's amounts: `compensation_currency` of `compensation_amount_minor`, else `currency`. */
function findCurrency(fields: Fields, name: string): string | undefined {
  const [own] = Object.entries(fields).filter(
    ([key, value]) => isCurrency(key) && typeof value === 'string' && name.startsWith(key.replace(/currency$/, '')),
  );
  const currency = own?.[1] ?? fields.currency;
  return typeof currency === 'string' ? currency : undefined;
}

function toApiName(resourceId: string, column: string): string {
  const name = column.replace(/_(?:minor|ppm)$/, '');
  return API_NAMES[withPrefix(resourceId, name)] ?? API_NAMES[name] ?? name;
}

function toApiValue(fields: Fields, name: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (name.endsWith('_ppm')) return fromPpm(value);
  const currency = name.endsWith('_minor') ? findCurrency(fields, name) : undefined;
  return currency === undefined ? value : fromMinor(value, currency);
}

/** A stored row in the units and names of the API: percent and major units, without what only the database has. */
function toApiFields(resourceId: string, fields: Fields | null): Fields | null {
  if (fields === null) return null;
  const apiFields: Fields = {};
  for (const [column, value] of Object.entries(fields)) {
    if (isInternal(resourceId, column)) continue;
    const isUnknown = typeof value === 'number' && column.endsWith('_minor') && !findCurrency(fields, column);
    const name = isUnknown ? column : toApiName(resourceId, column);
    // An amount in money and a share of sales are one field of the API.
    apiFields[name] = toApiValue(fields, column, value) ?? apiFields[name] ?? null;
  }
  return apiFields;
}

export function toApiChange<C extends TextChange>(change: C): C {
  const { resource_id: id, old, new: now, generated = [] } = change;
  return {
    ...change,
    old: toApiFields(id, old),
    new: toApiFields(id, now),
    generated: generated.filter((name) => !isInternal(id, name)).map((name) => toApiName(id, name)),
  };
}

/** The names of a row's currencies, which say what its amounts are even if they stay. */
export const listCurrencies = (row: object | null): string[] =>
  Object.keys(row ?? {}).filter((name) => /^currency$|Currency$/.test(name));

const show = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);

/** Fields that name a record, in the order in which people look for them. */
const NAMING = ['title', 'name', 'creator_email', 'value', 'email', 'status'];

function describeCreated(fields: Fields): string {
  const { amount, currency } = fields;
  const names = NAMING.flatMap((name) => (typeof fields[name] === 'string' ? [fields[name]] : [])).slice(0, 2);
  const money = typeof amount === 'number' && typeof currency === 'string' ? [`${amount} ${currency}`] : [];
  return [...money, ...names].join(', ');
}

function describeChanged(old: Fields, now: Fields): string {
  const names = Object.keys(now).filter(
    (name) =>
      !/(?:^|[._])currency$/.test(name) &&
      !name.endsWith('_at') &&
      JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  const changeTexts = names.slice(0, SHOWN_FIELDS).map((name) => `${name} ${show(old[name])} → ${show(now[name])}`);
  const more = names.length - changeTexts.length;
  return [...changeTexts, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Sums the amounts of several records by currency. */
function sumAmounts(changes: readonly TextChange[]): string[] {
  const sums = new Map<string, number>();
  for (const { new: row } of changes) {
    if (!isRecord(row) || typeof row.amount !== 'number' || typeof row.currency !== 'string') continue;
    sums.set(row.currency, (sums.get(row.currency) ?? 0) + row.amount);
  }
  return [...sums].map(([currency, sum]) => `${Number(sum.toFixed(4))} ${currency}`);
}

/** Terms that a person decides about, named once where all new records have the same. */
const SHARED = ['commission_rate', 'method'];

function describeShared(created: readonly TextChange[]): string {
  const [first] = created;
  const sharedNames = SHARED.filter(
    (name) => show(first?.new?.[name]) !== 'none' && created.every((one) => one.new?.[name] === first?.new?.[name]),
  );
  return sharedNames.length === 0
    ? ''
    : `, each with ${sharedNames.map((name) => `${name} ${show(first?.new?.[name])}`).join(', ')}`;
}

/** One sentence for the person who decides: "Change the brand: default_commission_rate 10 → 12." */
export function summarizePlan(summary: string, changes: readonly TextChange[]): string {
  const [first] = changes;
  if (first === undefined) return `${summary}: nothing would change.`;
  if (changes.length === 1) {
    const { old, new: now } = first;
    const text = old === null ? describeCreated(now ?? {}) : now === null ? 'removed' : describeChanged(old, now);
    return text === '' ? `${summary}.` : `${summary}: ${text}.`;
  }
  const creations = changes.filter(({ old }) => old === null);
  const removedCount = changes.filter(({ new: now }) => now === null).length;
  const counts = [
    [creations.length, 'new'],
    [changes.length - creations.length - removedCount, 'changed'],
    [removedCount, 'removed'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const sums = sumAmounts(creations);
  return `${summary}: ${parts.join(', ')}${sums.length > 0 ? `, ${sums.join(' and ')} in all` : ''}${describeShared(creations)}.`;
}
