import { noun } from '../../kit/operation/noun.ts';
import { forgetOldDeliveries, webhookConsumer } from './fan-out.ts';
import { webhookDeliveryOperations } from './deliveries/routes.ts';
import { webhookMails } from './webhooks.mails.ts';
import { webhookOperations } from './routes.ts';

export const webhooksNoun = noun({
  name: 'webhooks',
  tag: {
    name: 'Webhooks',
    about: 'Signed calls to your programs when something happens, and the feed of all events.',
  },
  ids: { webhooks: 'whk', deliveries: 'whd', resend: 'whd', test: 'whd' },
  operations: [...webhookOperations, ...webhookDeliveryOperations],
  jobs: [forgetOldDeliveries],
  consumers: [webhookConsumer],
  mails: webhookMails,
});
