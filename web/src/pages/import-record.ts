import { day, money, rate, words } from '../kit/format.ts';

type Fields = Readonly<Record<string, unknown>>;

function describeMoney(record: Fields, text: (name: string) => string): string[] {
  const { amount, amount_most: most, refunded } = record;
  const currency = text('currency');
  if (typeof amount !== 'number' || currency === '') return [];
  const range = typeof most === 'number' && most !== amount ? ` to ${money(most, currency)}` : '';
  const isRefunded = typeof refunded === 'number' && refunded > 0;
  return [`${money(amount, currency)}${range}`, ...(isRefunded ? [`${money(refunded, currency)} refunded`] : [])];
}

function describeTimes(text: (name: string) => string): string[] {
  const [placedDay, paidDay] = [text('placed_at'), text('paid_at')].map((at) => (at === '' ? '' : day(at)));
  const cancelledAt = text('cancelled_at');
  return [
    placedDay ?? '',
    paidDay === placedDay || paidDay === undefined || paidDay === '' ? '' : `paid ${paidDay}`,
    cancelledAt === '' ? '' : `cancelled ${day(cancelledAt)}`,
  ];
}

/** A code, or the destination of a link, which a creator has with a rate in millionths. */
function describeRated(rated: unknown): string {
  if (typeof rated === 'string') return rated;
  if (typeof rated !== 'object' || rated === null) return '';
  const { code, destination_url: destination, rate_ppm: ppm }: Fields = { ...rated };
  const name = code === undefined ? `link to ${String(destination)}` : String(code);
  return typeof ppm === 'number' ? `${name} at ${rate(ppm / 10_000)}` : name;
}

/** A record as it was read, in one line, as a person writes it. */
export function describeRecord(record: Fields | null): string {
  if (record === null) return '';
  const text = (name: string) => (typeof record[name] === 'string' ? record[name] : '');
  const list = (name: string) => (Array.isArray(record[name]) ? record[name] : []);
  const handles = ['handle', 'instagram', 'tiktok'].map(text).filter(Boolean);
  const [number, id] = [text('order_number'), text('order_id')];
  const parts = [
    number,
    id === number ? '' : id,
    ...['email', 'name'].map(text),
    ...handles.map((handle) => `@${handle.replace(/^@/, '')}`),
    ...[...list('codes'), ...list('destinations')].map(describeRated),
    text('code'),
    ...describeMoney(record, text),
    ...describeTimes(text),
    text('reference'),
    text('status') === 'paused' ? 'paused' : '',
    ...list('tags').map(String),
    text('payment_email'),
    text('payment_method') && words(text('payment_method')).toLowerCase(),
    record.is_refunded === true ? 'refunded' : '',
    record.is_cancelled === true ? 'cancelled' : '',
  ];
  return parts.filter(Boolean).join(', ');
}
