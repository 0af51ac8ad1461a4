import type { Row } from '../call/call.ts';
import { number } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';

type Key = Row<'list_keys'>;

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

const LIMITS = [
  { name: 'limits.calls_per_minute', hint: 'At most 100.' },
  {
    name: 'limits.allowed_addresses',
    kind: 'textarea',
    hint: 'IP addresses or networks such as 203.0.113.0/24, one per line. Leave empty to allow all.',
  },
  {
    name: 'limits.forced_filters',
    hint: 'Search filters that always apply to this key, one per line, such as country = US.',
  },
] as const;
const CREDITS = [
  { name: 'limits.monthly_credits', label: 'Credits per billing period' },
  { name: 'limits.daily_credits', label: 'Credits per day', hint: 'Days in UTC.' },
  { name: 'limits.alert_at', label: 'Email owners at, in percent', hint: 'Such as 80, 100.' },
] as const;

/** Renames a key and sets its limits, which hold from its next call on. */
export function KeyEdit({ of, isOpen, onClose }: { of: Key; isOpen: boolean; onClose: () => void }) {
  const isOfData = of.type === 'data';
  return (
    <OperationDialog
      operation="update_key"
      title={`Edit ${of.name}`}
      hint="An empty field sets no limit. Changes apply from the next call."
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: of.id }}
      item={of}
      fields={['name', ...LIMITS, ...(isOfData ? CREDITS : [])]}
      omits={isOfData ? [] : CREDITS.map(({ name }) => name)}
      shown={['list_keys']}
      onDone={onClose}
    />
  );
}
