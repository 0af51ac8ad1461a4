import { z } from 'zod';
import { noun } from '../../kit/operation/noun.ts';
import { nothing } from '../../kit/operation/operation.ts';
import { upload } from '../../kit/operation/upload.ts';
import { Job } from '../../platform/jobs/jobs.api.ts';
import { registerKind, toJob } from '../../platform/jobs/jobs.ts';
import { MAX_FILE_BYTES } from '../imports/files.ts';
import { reconciliationKind, removeReconciled } from './reconciliations.jobs.ts';
import { ReconciliationCreate } from './reconciliations.shapes.ts';
import {
  createReconciliation,
  RECONCILIATION,
  receiveOrders,
  releaseOrders,
  toEmptyUpload,
} from './reconciliations.ts';

const reconciliationOperations = [
  upload({
    id: 'create_reconciliation',
    method: 'POST',
    path: '/v1/affiliates/reconcile',
    tag: 'Affiliates',
    summary: "Compare a store's orders with ours",
    description:
      "Starts a job. Send the store's CSV or .xlsx of orders as `file` in multipart/form-data, up to 200 MB, or JSON with a connected " +
      'store and a period, whose orders are then read from it. If a file can be read in several ways, the answer is 422 with `questions`. ' +
      "The job's file has a row for each difference, its `result` the " +
      'counts, and a `plan_id` if the store can be read again.',
    forAgents: { isListed: false },
    callers: ['brand'],
    params: nothing,
    query: nothing,
    body: ReconciliationCreate,
    response: z.object({ data: Job }),
    status: 202,
    errors: ['CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    hints: { readOnly: false, idempotent: false, destructive: false },
    maxFileBytes: MAX_FILE_BYTES,
    receive: receiveOrders,
    release: releaseOrders,
    withoutFile: toEmptyUpload,
    apply: (work, { body }, upload) => createReconciliation(work, body, upload),
    answer: (context, row) => ({ data: toJob(row, context) }),
  }),
] as const;

registerKind(RECONCILIATION, reconciliationKind);

export const reconciliations = noun({
  name: 'reconciliations',
  operations: reconciliationOperations,
  jobs: [removeReconciled],
});
