import { claimedWork } from '../../kit/operation/claimed-work.ts';
import { noun } from '../../kit/operation/noun.ts';
import { storeWebhookMails } from './webhooks.mails.ts';
import { keepDueWebhooks, SOON_MS, selectDueWebhooks } from './webhooks.ts';

export const keepStoreWebhooks = claimedWork({
  name: 'keep-store-webhooks',
  everyMs: 5_000,
  leaves: true,
  asksFor: 'stores whose webhooks were not looked at for 15 minutes',
  places: 8,
  placesOfBrand: 2,
  due: selectDueWebhooks,
  doing: 'looking at the webhooks of stores',
  run: keepDueWebhooks,
  restMs: () => SOON_MS,
});

export const storeWebhooks = noun({
  name: 'store-webhooks',
  operations: [],
  jobs: [keepStoreWebhooks],
  mails: storeWebhookMails,
});
