import { act, get, list, patch, remove, write } from '../../kit/operation/kit.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Job } from '../../platform/jobs/jobs.api.ts';
import { registerKind, toJob } from '../../platform/jobs/jobs.ts';
import { getSalt, hashEmail } from '../orders/customers.ts';
import { CustomerBackfill } from './backfill.shapes.ts';
import { BACKFILL, backfillKind, startBackfill } from './backfill.ts';
import { createCustomer, createCustomers } from './create-customers.ts';
import { Customer, CustomerDeleted, CustomerFilter, CustomerPatch, toCustomer } from './customers.shapes.ts';
import { customers, eraseCustomer, patchCustomer } from './customers.ts';
import { CustomerCreate, CustomerCreated, CustomersCreate, CustomersCreated } from './new-customers.shapes.ts';
import { makePastCustomers } from './past-customers.jobs.ts';

const all = { path: '/v1/customers', tag: 'Affiliates', item: Customer } as const;
const one = { path: '/v1/customers/{id}', tag: 'Affiliates' } as const;

const customerOperations = [
  list({
    ...all,
    id: 'list_customers',
    summary: 'List customers',
    description:
      'Customers whose later orders may earn commission, such as subscribers, with the reason if they no longer do. Newest first.',
    forAgents: { isListed: false },
    query: CustomerFilter,
    rows: customers,
    whereOf: async ({ postgres, secrets, clock }, { caller, query: { customer_email: email, ...query } }) => ({
      ...query,
      now: clock.now(),
      timeZone: await getTimeZone(postgres.db, caller.brandId),
      emailHash:
        email === undefined ? undefined : hashEmail(await getSalt(postgres.db, secrets), email).toString('hex'),
    }),
    itemOf: (row, { clock }) => toCustomer(row, clock.now()),
  }),
  write({
    path: '/v1/customers',
    tag: 'Affiliates',
    id: 'create_customer',
    method: 'POST',
    status: 201,
    summary: 'Add a customer whom a creator brought',
    description:
      'A lead came with a code or click, which must qualify when the customer signs up; later orders earn by the terms of that ' +
      'link. With `link_id` and `reason` you decide it yourself. Orders that paid nobody since then, of the last 90 days, are ' +
      'decided again. A customer who belongs to a creator already stays with them, and `created` is false.',
    forAgents: { isListed: false },
    hints: { idempotent: true, planned: true },
    body: CustomerCreate,
    response: CustomerCreated,
    wasThere: ({ created }) => !created,
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { body }, secrets) => {
      const { id, isNew } = await createCustomer(work, secrets, body);
      const row = await customers.get(work.db, work.brandId, id);
      return { data: toCustomer(row, work.now), created: isNew };
    },
  }),
  act({
    path: '/v1/customers/batch',
    tag: 'Affiliates',
    id: 'create_customers',
    summary: 'Add up to 500 customers',
    description: 'Each like one alone: a customer who is refused leaves the others as they are, and says why.',
    forAgents: { isListed: false },
    hints: { idempotent: true, planned: true },
    body: CustomersCreate,
    item: CustomersCreated,
    lookUp: async ({ secrets }) => secrets,
    apply: (work, { body }, secrets) => createCustomers(work, secrets, body),
  }),
  act({
    path: '/v1/customers/backfill',
    tag: 'Affiliates',
    id: 'backfill_customers',
    item: Job,
    status: 202,
    summary: 'Decide past orders of known customers again',
    description:
      'Starts a job that finds orders of the period that paid nobody, and says whom they would pay now that their customers and ' +
      'subscriptions are known. With `apply` it decides them. Their commissions are pending, with the review period from the ' +
      'payment of the order.',
    forAgents: { isListed: false },
    hints: { planned: true },
    body: CustomerBackfill,
    errors: ['CONFLICT'],
    sealsAnswer: true,
    lookUp: async (context) => context,
    apply: async (work, { caller: { keyId }, body }, context) => toJob(await startBackfill(work, keyId, body), context),
  }),
  get({
    ...one,
    id: 'get_customer',
    summary: 'Get a customer',
    description: 'Whose customer it is, by which terms, and what the orders paid.',
    forAgents: { isListed: false },
    item: Customer,
    find: async ({ postgres, clock }, { caller, params }) =>
      toCustomer(await customers.get(postgres.db, caller.brandId, params.id), clock.now()),
  }),
  patch({
    ...one,
    id: 'update_customer',
    summary: 'End or move a customer',
    description: 'Applies to later orders; commissions that exist stay.',
    forAgents: { isListed: false },
    hints: { planned: true },
    item: Customer,
    body: CustomerPatch,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id }, body }) => {
      await patchCustomer(work, id, body);
      return toCustomer(await customers.get(work.db, work.brandId, id), work.now);
    },
  }),
  remove({
    ...one,
    id: 'delete_customer',
    summary: 'Erase a customer',
    description:
      'Erases the masked address, the hashes and the subscription ids of the customer and of their orders, and ends it. Orders, ' +
      'commissions and the ledger stay.',
    forAgents: { isListed: false },
    hints: { planned: true },
    item: CustomerDeleted,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id } }) => {
      await eraseCustomer(work, id);
      return { id, erased: true as const };
    },
  }),
] as const;

registerKind(BACKFILL, backfillKind);

export const customersNoun = noun({
  name: 'customers',
  ids: { customers: 'cus' },
  operations: customerOperations,
  jobs: [makePastCustomers],
});
