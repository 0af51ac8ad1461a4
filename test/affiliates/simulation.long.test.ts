import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Assignment,
  attributeOrder,
  type CarriedClick,
  type RedeemedCode,
} from '../../src/affiliates/orders/attribute.ts';
import type { Attribution } from '../../src/affiliates/orders/attribution.shapes.ts';
import { type SimulatedRules, simulateDecision } from '../../src/affiliates/orders/simulated-order.ts';
import { DEFAULT_RULES, type Rules, toRecordedRules } from '../../src/affiliates/rules/attribution-rules.ts';
import { randomOf } from '../harness/affiliates/leaking-codes.ts';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { daysAgo, makeSale } from '../harness/affiliates/sales.ts';
import { jobOf } from '../harness/analytics/exporting.ts';
import { keysInTurn, send, startApp, startWorkerProcess, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

const ORDERS = 300_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const ORDERED = new Date('2026-03-10T12:00:00Z');
const NOTHING: SimulatedRules = {
  ...{ attributionDays: undefined, holdDays: undefined, model: undefined, couponPolicy: undefined },
  ...{ ratePpm: undefined, minOrder: undefined },
};

/** Random orders with up to two codes and three clicks of four assignments, under random rules. */
function* orders(seed: number) {
  const random = randomOf(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const links = Array.from({ length: 4 }, (_, i): Assignment => {
    const type = i < 2 ? 'discount_code' : 'link';
    return {
      id: `lnk_${i}`,
      type,
      integrationId: i === 3 ? 'int_2' : null,
      attributionDays: 7 + 20 * (i % 2),
      paysRenewals: i % 2 === 0 || null,
    };
  });
  for (let i = 0; i < ORDERS; i += 1) {
    const codes = Array.from({ length: pick(3) }, (_, place): RedeemedCode<Assignment> => {
      const assignment = links[pick(5)];
      return {
        code: `CODE${place}${assignment?.id}`,
        assignment,
        wasActive: assignment !== undefined && random() < 0.8,
      };
    });
    const clicks = Array.from({ length: pick(4) }, (_, place): CarriedClick<Assignment> => {
      const assignment = links[pick(5)];
      const at = new Date(ORDERED.getTime() + DAY_MS - pick(40) * DAY_MS);
      const id = `clk_${place}`;
      return { token: id, click: random() < 0.9 ? { id, at, linkId: assignment?.id ?? '' } : undefined, assignment };
    });
    const rules: Rules =
      random() < 0.5
        ? DEFAULT_RULES
        : {
            ...DEFAULT_RULES,
            model: random() < 0.5 ? 'first_click' : 'last_click',
            couponPolicy: random() < 0.5 ? 'click_wins' : 'code_wins',
            minOrder: random() < 0.5 ? { minor: 5_000, currency: 'USD' } : null,
          };
    yield {
      ...{
        integrationId: 'int_1',
        occurredAt: ORDERED,
        baseMinor: pick(10_000),
        currency: random() < 0.8 ? 'USD' : 'EUR',
      },
      ...{ isTest: random() < 0.02, isRenewal: random() < 0.05, rules, codes, clicks },
    };
  }
}

describe('today’s rules', () => {
  it(`change none of ${ORDERS} random orders, whether they are omitted or given`, () => {
    let wins = 0;
    for (const order of orders(7)) {
      const { winner, candidates, rule, reason } = attributeOrder(order);
      const { rules, ...facts } = order;
      const recorded: Attribution = {
        ...{ rule, reason, candidates, link_id: winner?.id ?? null, decided_at: ORDERED.toISOString() },
        ...{ cause: 'first_report', terms: null, earlier: [], rules: toRecordedRules(rules) },
      };
      const given = { ...NOTHING, model: rules.model, couponPolicy: rules.couponPolicy, minOrder: rules.minOrder };
      for (const simulated of [NOTHING, given]) {
        const decided = simulateDecision({ ...facts, attribution: recorded }, simulated, () => null);
        if (decided.winner !== winner?.id || decided.rule !== rule || decided.reason !== reason) {
          expect(decided, JSON.stringify(order)).toMatchObject({ winner: winner?.id, rule, reason });
        }
      }
      if (winner) wins += 1;
    }
    expect(wins).toBeGreaterThan(ORDERS / 5);
  });
});

describe('a simulation of many orders', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-simulating-'));
  let database: TestDatabase;
  let app: TestApp;
  beforeAll(async () => {
    database = await makeDatabase('simulating');
    app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_DIR: folder } });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('takes 50,000 at once, and more as a job that survives kill -9', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const placed = daysAgo(20);
    const { id } = await makeSale(app.context, brand, { assignment, occurredAt: placed });
    const suffix = brand.id.slice(4);
    await app.context.postgres.db.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`insert into orders select made.* from orders, generate_series(1, 50000) as n,
        jsonb_populate_record(orders, jsonb_build_object('id', 'ord_' || n || ${suffix}::text, 'order_id', 'many' || n,
          'occurred_at', orders.occurred_at + n * interval '1 second')) as made
        where orders.brand_id = ${brand.id}`.execute(trx);
      await sql`insert into commissions select made.* from commissions, generate_series(1, 50000) as n,
        jsonb_populate_record(commissions, jsonb_build_object('id', 'com_' || n || ${suffix}::text,
          'order_id', 'ord_' || n || ${suffix}::text)) as made
        where commissions.id = ${id}`.execute(trx);
    });
    const simulate = async (more: object = {}) =>
      await send(`${app.url}/v1/affiliates/simulate`, key, 'POST', { rules: {}, ...more });
    const rules = { rate: 5 };
    const started = await simulate({ rules });
    expect([started.status, started.body.data.kind]).toEqual([202, 'simulation']);
    // Several keys watch it: on a busy machine that takes more calls than one key has in a minute.
    const watcher = await keysInTurn(brand, 5);
    const job = async () => await jobOf(app, watcher(), started.body.data.id);
    const env = { DATABASE_URL: database.url, REDIS_URL: ownRedis(), ROLLCALL_DIR: folder };
    // Only of the killed one: a turn of the other may take longer on a busy machine, and would then be lost to itself.
    const killed = await startWorkerProcess(unique('none'), { ...env, WORKER_LOST_AFTER_MS: '1000' });
    await until('some orders', async () => (await job()).rows > 0);
    await killed.kill();
    const last = await startWorkerProcess(unique('none'), env);
    await until('the end', async () => (await job()).status === 'done');
    await last.stop();
    const { result, rows, files } = await job();
    expect([rows, files.length, result.meta.changed, result.data.changed.length]).toEqual([50_001, 1, 50_001, 100]);
    expect(result.data.totals[0].commission_simulated_minor).toBe(25_000_500);
    const start = new Date(placed.getTime() + 500).toISOString();
    const { status, body } = await simulate({ from: start });
    expect(status, JSON.stringify(body).slice(0, 500)).toBe(200);
    expect([body.meta.orders, body.meta.changed]).toEqual([50_000, 0]);
    expect(body.data.totals).toEqual([
      {
        ...{ currency: 'USD', orders_now: 50_000, orders_simulated: 50_000 },
        ...{ commission_now_minor: 50_000_000, commission_simulated_minor: 50_000_000 },
        ...{ in_review_now_minor: 50_000_000, in_review_simulated_minor: 50_000_000 },
      },
    ]);
    const halved = (await simulate({ from: start, rules: { rate: 5 } })).body;
    expect([halved.meta.changed, halved.data.changed.length]).toEqual([50_000, 100]);
    expect(halved.data.totals[0].commission_simulated_minor).toBe(25_000_000);
  });
});
