import { noun } from '../../kit/operation/noun.ts';
import { auditOperations } from './routes.ts';

export const audit = noun({
  name: 'audit',
  tag: {
    name: 'Audit log',
    about: 'Which key or person changed what, old and new.',
  },
  ids: { 'audit-log': 'aud' },
  operations: auditOperations,
});
