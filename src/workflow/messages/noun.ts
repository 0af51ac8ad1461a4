import { noun } from '../../kit/operation/noun.ts';
import { messageMails } from './mails.ts';
import { messageOperations } from './routes.ts';

export const messages = noun({
  name: 'messages',
  tag: {
    name: 'Messages',
    about: 'One conversation between the brand and each creator.',
  },
  ids: { messages: 'msg' },
  operations: messageOperations,
  mails: messageMails,
});
