import type { Row } from '../call/call.ts';

type Parcel = Row<'list_shipments'>;

/** A new parcel is pending: people set and filter one state, for which the API has two names. */
export const parcelState = ({ status }: Pick<Parcel, 'status'>) => (status === 'created' ? 'pending' : status);

/** The delivery address in one line; null without one. */
export const addressText = ({ shipping_address: address }: Pick<Parcel, 'shipping_address'>) =>
  typeof address === 'string' ? address : address && Object.values(address).filter(Boolean).join(', ');

/** The town and country of an address, which is folded. */
export const placeText = ({ shipping_address: address }: Pick<Parcel, 'shipping_address'>) =>
  (typeof address !== 'string' && [address?.city, address?.state, address?.country].filter(Boolean).join(', ')) ||
  'Address';
