import type { Row } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import { type Field, FormDialog, type Values } from '../kit/form.tsx';
import { number } from '../kit/format.ts';

type Key = Row<'list_keys'>;
type Limits = Key['limits'];

/** `{country: "US"}` as a line for each filter: `country = US`. */
const formatFilters = (filters: Limits['forced_filters']) =>
  Object.entries(filters ?? {})
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');

function filtersIn(lines: readonly string[]): Limits['forced_filters'] {
  if (lines.length === 0) return null;
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split('=');
      return [name.trim(), value.join('=').trim()];
    }),
  );
}

const orNull = <T,>(list: readonly T[]): T[] | null => (list.length > 0 ? [...list] : null);

function limitsIn(values: Values): Limits {
  return {
    monthly_credits: values.someNumber('monthly_credits') ?? null,
    daily_credits: values.someNumber('daily_credits') ?? null,
    calls_per_minute: values.someNumber('calls_per_minute') ?? null,
    forced_filters: filtersIn(values.lines('forced_filters')),
    allowed_addresses: orNull(values.list('allowed_addresses')),
    alert_at: orNull(values.list('alert_at').map(Number)),
  };
}

function buildFields({ type, name, limits }: Key): Field[] {
  const own: Field[] = [
    { name: 'name', label: 'Name', isRequired: true, value: name },
    {
      name: 'calls_per_minute',
      label: 'Calls per minute',
      kind: 'number',
      value: limits.calls_per_minute,
      hint: 'At most 100.',
    },
    {
      name: 'allowed_addresses',
      label: 'Allowed addresses',
      kind: 'textarea',
      value: limits.allowed_addresses?.join('\n') ?? '',
      hint: 'IP addresses or networks such as 203.0.113.0/24, one a line. Empty: all.',
    },
    {
      name: 'forced_filters',
      label: 'Forced filters',
      kind: 'textarea',
      value: formatFilters(limits.forced_filters),
      hint: 'Search filters that the key cannot leave, one a line, such as country = US.',
    },
  ];
  if (type === 'brand') return own;
  return [
    ...own,
    { name: 'monthly_credits', label: 'Credits a billing period', kind: 'number', value: limits.monthly_credits },
    {
      name: 'daily_credits',
      label: 'Credits a day',
      kind: 'number',
      value: limits.daily_credits,
      hint: 'Days in UTC.',
    },
    {
      name: 'alert_at',
      label: 'Mail owners at, in percent',
      value: limits.alert_at?.join(', ') ?? '',
      hint: 'Such as 80, 100.',
    },
  ];
}

/** The limits of a key in a few words. */
export function limitsInWords({ limits }: Key): string {
  const { monthly_credits, daily_credits, calls_per_minute, forced_filters, allowed_addresses } = limits;
  const parts = [
    monthly_credits !== null && `${number(monthly_credits)} credits a period`,
    daily_credits !== null && `${number(daily_credits)} credits a day`,
    calls_per_minute !== null && `${number(calls_per_minute)} calls a minute`,
    forced_filters !== null &&
      Object.entries(forced_filters)
        .map((filter) => filter.join(' = '))
        .join(', '),
    allowed_addresses !== null &&
      `from ${allowed_addresses.length === 1 ? allowed_addresses[0] : `${allowed_addresses.length} networks`}`,
  ];
  return parts.filter(Boolean).join('; ') || 'None';
}

/** Renames a key and sets its limits, which hold from its next call on. */
export function KeyEdit({ of, isOpen, onClose }: { of: Key; isOpen: boolean; onClose: () => void }) {
  const update = useChange('update_key', ['list_keys']);
  return (
    <FormDialog
      title={`Edit ${of.name}`}
      hint="An empty field sets no limit. New limits hold from the next call."
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      fields={buildFields(of)}
      onSubmit={async (values) => {
        const limits = changed(limitsIn(values), of.limits);
        const name = changed({ name: values.text('name') }, of);
        const body = { ...name, ...(isEmpty(limits) ? {} : { limits }) };
        if (!isEmpty(body)) await update.mutateAsync({ params: { id: of.id }, body });
        onClose();
      }}
    />
  );
}
