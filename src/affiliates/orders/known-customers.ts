import type { Work } from '../../kit/operation/work.ts';
import { listCustomerRows, lockCustomers, toKeyRows, toSubscriptionKey } from '../customers/customers.ts';
import type { CustomerOrder, CustomerRow, DecidedOrder } from '../terms/customer-rows.ts';
import { continuesAnother, startsTrial } from '../terms/customers.ts';
import { listDecidedOrders } from './order-history.ts';

type KeyRow = ReturnType<typeof toKeyRows>[number];

/** Lists the keys by which the customer of an order is recognized, as rows have them. */
function listKeys(order: CustomerOrder & Pick<DecidedOrder, 'started'>): KeyRow[] {
  const { integrationId, subscriptionId, previousSubscriptionId, customerId, email, started = [] } = order;
  return [
    ...[subscriptionId, previousSubscriptionId, ...started].flatMap((id) =>
      id === null ? [] : [{ kind: 'subscription' as const, key: toSubscriptionKey(integrationId, id) }],
    ),
    ...(customerId === null
      ? []
      : [{ kind: 'customer_id' as const, key: toSubscriptionKey(integrationId, customerId) }]),
    ...(email === null ? [] : [{ kind: 'email' as const, key: email }]),
  ];
}

/** Values by key. */
class Index<T> {
  readonly #values = new Map<string, T[]>();

  add(key: string, value: T): void {
    const values = this.#values.get(key);
    if (values) values.push(value);
    else this.#values.set(key, [value]);
  }

  list(keys: readonly string[]): T[] {
    return keys.flatMap((key) => this.#values.get(key) ?? []);
  }
}

const toTexts = (keys: readonly KeyRow[]) => keys.map(({ kind, key }) => `${kind} ${key}`);

/** What is known of the customers of orders that are about to be decided. It grows with each decision. */
export class KnownCustomers {
  readonly #rows = new Map<string, CustomerRow>();
  readonly #orders = new Map<string, DecidedOrder>();
  readonly #rowsByKey = new Index<CustomerRow>();
  readonly #ordersByKey = new Index<DecidedOrder>();
  readonly #ordersByRow = new Index<DecidedOrder>();

  addRow(row: CustomerRow): void {
    this.#rows.set(row.id, row);
    for (const key of toTexts(toKeyRows(row))) this.#rowsByKey.add(key, row);
  }

  addOrder(order: DecidedOrder): void {
    this.#orders.set(order.id, order);
    for (const key of toTexts(listKeys(order))) this.#ordersByKey.add(key, order);
    const rowId = order.owner?.rowId ?? null;
    if (rowId !== null) this.#ordersByRow.add(rowId, order);
  }

  /** Finds what can decide an order: rows and orders that share a key with it, and all orders of these rows. */
  find(order: CustomerOrder): { rows: CustomerRow[]; orders: DecidedOrder[] } {
    const keys = toTexts(listKeys(order));
    const sharing = this.#ordersByKey.list(keys);
    const owning = sharing.flatMap(({ owner }) => this.#rows.get(owner?.rowId ?? '') ?? []);
    const rows = [...new Set([...this.#rowsByKey.list(keys), ...owning])];
    const firsts = rows.flatMap(({ firstOrderId }) => this.#orders.get(firstOrderId ?? '') ?? []);
    const ofRows = this.#ordersByRow.list(rows.map(({ id }) => id));
    return { rows, orders: [...new Set([...sharing, ...firsts, ...ofRows])] };
  }

  /** The links that these customers may earn by. */
  listLinks(): string[] {
    const ofOrders = [...this.#orders.values()].flatMap(({ owner }) => owner?.linkId ?? []);
    return [...new Set([...[...this.#rows.values()].map(({ linkId }) => linkId), ...ofOrders])];
  }
}

/** Loads the rows and orders that can decide these orders, after other decisions about customers have ended. */
export async function loadKnownCustomers(
  { db, brandId }: Work,
  orders: readonly CustomerOrder[],
): Promise<KnownCustomers> {
  const knownCustomers = new KnownCustomers();
  const recognizable = orders.filter((order) => listKeys(order).length > 0);
  if (recognizable.length === 0) return knownCustomers;
  const isContinued = recognizable.some(
    (order) => continuesAnother(order) || startsTrial(order) || order.subscriptionId !== null,
  );
  if (!(await lockCustomers(db, brandId, isContinued))) return knownCustomers;
  const rows = await listCustomerRows(db, brandId, recognizable.flatMap(listKeys));
  for (const row of rows) knownCustomers.addRow(row);
  for (const order of await listDecidedOrders(db, brandId, recognizable, rows)) knownCustomers.addOrder(order);
  return knownCustomers;
}
