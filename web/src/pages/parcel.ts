import type { Row } from '../call/call.ts';

type Parcel = Row<'list_shipments'>;

/** A new parcel is pending: people set and filter one state, for which the API has two names. */
export const parcelState = ({ status }: Pick<Parcel, 'status'>) => (status === 'created' ? 'pending' : status);

type Addressed = Pick<Parcel, 'shipping_address'>;

/** The delivery address in one line; null without one. */
export const addressText = ({ shipping_address: address }: Addressed) =>
  typeof address === 'string' ? address : address && Object.values(address).filter(Boolean).join(', ');

/** The delivery address as on a label. */
export function addressLines({ shipping_address: address }: Addressed): readonly string[] {
  if (address === null) return [];
  if (typeof address === 'string') return [address];
  const { street, line2, city, state, zip, country } = address;
  const place = [city, [state, zip].filter(Boolean).join(' ')].filter(Boolean).join(', ');
  return [street, line2, place, country].flatMap((line) => line || []);
}
