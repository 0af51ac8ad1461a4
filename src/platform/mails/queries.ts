import { listing } from '../../kit/engines/postgres/listing.ts';
import { type MailState, withBrand } from '../../kit/mail/queries.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';

export const mails = listing({
  noun: 'mail',
  table: 'mails',
  time: 'createdAt',
  changed: ['createdAt', 'sentAt'],
  matching: (db, _brandId, { state }: ListWindow & { state?: MailState | undefined }) =>
    db.selectFrom('mails').where((eb) => eb.and(omitUndefined({ state }))),
  rows: withBrand,
});
