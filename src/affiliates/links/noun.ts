import { noun } from '../../kit/operation/noun.ts';
import { bulkCodeOperations } from './bulk/routes.ts';
import { linkMails } from './mails.ts';
import { linkOperations } from './routes.ts';

export const links = noun({
  name: 'links',
  tag: {
    name: 'Affiliates',
    about: 'Codes, tracked links, stores, figures and the ledger. Begin with `POST /v1/affiliates/links`.',
  },
  ids: { links: 'lnk' },
  operations: [...linkOperations, ...bulkCodeOperations],
  mails: linkMails,
});
