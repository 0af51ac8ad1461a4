import { noun } from '../../../kit/operation/noun.ts';
import { keepStoreWebhooks } from './jobs.ts';
import { storeWebhookMails } from './mails.ts';

export const storeWebhooks = noun({
  name: 'store-webhooks',
  operations: [],
  jobs: [keepStoreWebhooks],
  mails: storeWebhookMails,
});
