import type { z } from 'zod';
import type { Work } from '../../kit/operation/work.ts';
import { readOwnClick } from '../../kit/values/click-token.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import { type ListedLink, listLinksByIds, listNamedLinks } from '../links/links.ts';
import { attributeOrder } from '../orders/attribute.ts';
import { getSalt, hashCustomerId, hashEmail, maskEmail } from '../orders/customers.ts';
import { decideOrdersOfCustomers } from '../orders/decide.ts';
import { explainCandidate } from '../orders/explain.ts';
import { listDecidedOrders } from '../orders/order-history.ts';
import { DEFAULT_RULES } from '../rules/attribution-rules.ts';
import { findIntegration, upsertSource } from '../stores/connections/connections.ts';
import { type CustomerKeys, type CustomerRow, countPayments, findStopReason } from '../terms/customer-rows.ts';
import { getLinkTerms } from '../terms/effective.ts';
import { insertCustomers, listCustomerRows, lockCustomers, makeCustomerId, toKeyRows } from './customers.ts';
import type { CustomerCreate, CustomersCreate, CustomersCreated } from './new-customers.shapes.ts';

const MOST_DAYS_BACK = 400;

/** Refuses times ahead of the clock and those that lie too far back. */
function readStart(work: Work, { at, since }: CustomerCreate): Date {
  const field = since ? 'since' : 'at';
  const start = since ?? at ?? work.now;
  if (start.getTime() > work.now.getTime() + MINUTE_MS) {
    throw validationError([{ field, code: 'in_future', message: 'must not be in the future.' }]);
  }
  if (start.getTime() < work.now.getTime() - MOST_DAYS_BACK * DAY_MS) {
    const message = `must be at most ${MOST_DAYS_BACK} days ago.`;
    throw validationError([{ field, code: 'too_early', message }]);
  }
  return start;
}

/** Finds the store whose ids were given; null for an address alone. */
async function findStore({ db, now, brandId }: Work, input: CustomerCreate): Promise<string | null> {
  const { source: name, integration_id: id } = input;
  if (id !== undefined) {
    if (await findIntegration(db, brandId, id)) return id;
    const message = 'is not an integration of this brand.';
    throw validationError([{ field: 'integration_id', code: 'not_found', message }]);
  }
  if (name === undefined) return null;
  const currency = await getBrandCurrency(db, brandId);
  return (await upsertSource(db, { id: newId('int', now.getTime()), brandId, name, currency, createdAt: now })).id;
}

async function toKeys(
  { db }: Work,
  secrets: Secrets,
  input: CustomerCreate,
  store: string | null,
): Promise<CustomerKeys> {
  const { customer_email: email, customer_external_id: externalId, subscription_id: subscriptionId } = input;
  const salt = await getSalt(db, secrets);
  const toShopKeys = (id: string | undefined) =>
    id === undefined || store === null ? [] : [{ integrationId: store, id }];
  return {
    subscriptions: toShopKeys(subscriptionId),
    customerIds: toShopKeys(externalId).map(({ integrationId, id }) => ({
      integrationId,
      id: hashCustomerId(salt, integrationId, id).toString('hex'),
    })),
    emails: email === undefined ? [] : [hashEmail(salt, email).toString('hex')],
  };
}

/** A row that knows a customer by the subscription, or that covers the customer; a lead covers the first order. */
function isKnownBy(row: CustomerRow, keys: CustomerKeys): boolean {
  const texts = new Set(toKeyRows(keys).map(({ kind, key }) => `${kind} ${key}`));
  const sharedKeys = toKeyRows(row).filter(({ kind, key }) => texts.has(`${kind} ${key}`));
  const isAboutSubscription = keys.subscriptions.length > 0 && row.terms.covers !== 'customer';
  return sharedKeys.some(({ kind }) => kind === 'subscription' || !isAboutSubscription);
}

/** Finds the earliest row that runs and that one of the keys has already. */
async function findRunningRow({ db, now, brandId }: Work, keys: CustomerKeys): Promise<CustomerRow | undefined> {
  const rows = (await listCustomerRows(db, brandId, toKeyRows(keys))).filter((row) => isKnownBy(row, keys));
  const orders = await listDecidedOrders(db, brandId, [], rows);
  return rows
    .filter((row) => findStopReason(row, countPayments(row, orders, { id: '', placedAt: now }), now) === null)
    .toSorted((a, b) => a.since.getTime() - b.since.getTime() || (a.id < b.id ? -1 : 1))[0];
}

/** The link of the code or click that a lead came with, if it qualifies as for an order that is placed then. */
async function findLinkOfLead(
  { db, brandId }: Work,
  secrets: Secrets,
  { code, click_id: token }: CustomerCreate,
  { at, store }: { at: Date; store: string | null },
): Promise<ListedLink> {
  const click = token === undefined ? undefined : readOwnClick(secrets, token);
  const codes = code === undefined ? [] : [code];
  const namedLinks = await listNamedLinks(db, brandId, [
    { codes, linkIds: click ? [click.linkId] : [], first: at, last: at },
  ]);
  const [assignment] = namedLinks;
  const { winner, candidates } = attributeOrder({
    occurredAt: at,
    baseMinor: Number.MAX_SAFE_INTEGER,
    currency: '',
    isTest: false,
    isRenewal: false,
    rules: DEFAULT_RULES,
    // Without a store nothing says that it is another one than the link's.
    integrationId: store ?? assignment?.integrationId ?? '',
    codes: codes.map((one) => ({ code: one, assignment, wasActive: assignment?.wasActive ?? false })),
    clicks: token === undefined ? [] : [{ token, click, assignment }],
  });
  if (winner) return winner;
  const field = code === undefined ? 'click_id' : 'code';
  const problems = candidates.flatMap((candidate) =>
    candidate.type === 'customer' || candidate.reason === null
      ? []
      : [{ field, code: candidate.reason, message: explainCandidate(candidate, { rule: null }) }],
  );
  throw validationError(problems);
}

async function findLinkByHand({ db, brandId }: Work, id: string): Promise<ListedLink> {
  const [link] = await listLinksByIds(db, brandId, [id]);
  if (link) return link;
  const message = 'is not a code or link of this brand.';
  throw validationError([{ field: 'link_id', code: 'not_found', message }]);
}

/**
 * Adds a customer whom a creator brought, unless one of the keys belongs to a creator already. Orders of the keys that paid
 * nobody since then are decided again.
 */
export async function createCustomer(
  work: Work,
  secrets: Secrets,
  input: CustomerCreate,
  isImport = false,
): Promise<{ id: string; isNew: boolean }> {
  const { db, now, brandId } = work;
  const since = readStart(work, input);
  const store = await findStore(work, input);
  const keys = await toKeys(work, secrets, input, store);
  await lockCustomers(db, brandId, true);
  const runningRow = await findRunningRow(work, keys);
  if (runningRow) return { id: runningRow.id, isNew: false };
  const { link_id: linkId, customer_email: email, reason } = input;
  const isByHand = linkId !== undefined;
  const link = isByHand
    ? await findLinkByHand(work, linkId)
    : await findLinkOfLead(work, secrets, input, { at: since, store });
  const { terms, termsId } = getLinkTerms(link);
  const id = makeCustomerId(now);
  const origin = isByHand ? (isImport ? ('import' as const) : ('hand' as const)) : ('lead' as const);
  const row = { linkId: link.id, creatorId: link.creatorId, terms, termsId, origin, since };
  const draft = { ...row, ...keys, boundTo: link.integrationId, firstOrderId: null, products: [] };
  const customerEmail = email === undefined ? null : maskEmail(email);
  await insertCustomers(db, work, [
    { id, draft: { ...draft, endedAt: null, isOriginRejected: false }, customerEmail, reason },
  ]);
  work.audit({ resourceId: id, old: null, new: { id, ...row, customerEmail, reason }, generated: ['id'] });
  await decideOrdersOfCustomers(work, secrets, [{ id }]);
  return { id, isNew: true };
}

type CreatedCustomer = z.input<typeof CustomersCreated>['customers'][number];

/** A customer who is refused leaves the others as they are. */
async function tryCustomer(
  work: Work,
  secrets: Secrets,
  input: CustomerCreate,
  isImport: boolean,
): Promise<CreatedCustomer> {
  const none = { field: null, code: null, message: null };
  try {
    const { id, isNew } = await createCustomer(work, secrets, input, isImport);
    return { outcome: isNew ? 'created' : 'known', id, ...none };
  } catch (error) {
    const [problem] = error instanceof ApiError ? (error.details ?? []) : [];
    if (!problem) throw error;
    return { outcome: 'failed', id: null, ...problem };
  }
}

export async function createCustomers(work: Work, secrets: Secrets, { customers, import: isImport }: CustomersCreate) {
  const outcomes: CreatedCustomer[] = [];
  for (const input of customers) outcomes.push(await tryCustomer(work, secrets, input, isImport));
  const count = (outcome: CreatedCustomer['outcome']) => outcomes.filter((one) => one.outcome === outcome).length;
  return { customers: outcomes, created: count('created'), known: count('known'), failed: count('failed') };
}
