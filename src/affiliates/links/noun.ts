import { noun } from '../../kit/operation/noun.ts';
import { bulkCodeOperations } from './bulk-codes.api.ts';
import { linkMails } from './links.mails.ts';
import { linkOperations } from './routes.ts';

export const linksNoun = noun({
  name: 'links',
  tag: {
    name: 'Affiliates',
    about: 'Codes, tracked links, stores, figures and the ledger. Begin with `POST /v1/affiliates/links`.',
  },
  ids: { links: 'lnk' },
  operations: [...linkOperations, ...bulkCodeOperations],
  mails: linkMails,
});
