import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordOrder } from '../../src/affiliates/orders/record.ts';
import { codeValue, type Desk, LINKS, openDesk, problemsOf, SHOP } from '../harness/affiliates/affiliates.ts';
import { asTest, daysAgo, makeAssignment, orderFacts } from '../harness/affiliates/sales.ts';
import { call, send, startApp, type TestApp, unique } from '../harness/app.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
let at = new Date();
let app: TestApp;
let desk: Desk;
beforeAll(async () => {
  app = await startApp({ clock: { now: () => at } });
  desk = await openDesk(app);
});
afterAll(() => app?.close());

const days = (count: number) => new Date(at.getTime() + count * DAY_MS);
const rotate = (id: string, body: object = {}) => desk.send('POST', `${LINKS}/${id}/rotate`, body);

/** The code or link that an order with this code pays, and how its candidate is explained. */
async function paid(code: string, occurredAt: Date) {
  const { source } = await makeAssignment(app.context, desk.brand);
  const facts = orderFacts(occurredAt, { codes: [code] });
  await asTest(app.context, desk.brand, (work) => recordOrder(work, app.context.secrets, source, facts));
  const { data } = (await desk.get(`/v1/affiliates/explain?order_id=${facts.orderId}`)).body;
  return { link: data.commission?.link_id ?? null, explanation: data.candidates[0].explanation };
}

describe('a rotated code', () => {
  it('gets a readable new value, and both pay until the date, which explain names', async () => {
    const { id, value } = await desk.made({ value: codeValue(), creator_name: 'Zoë' });
    const { status, body } = await rotate(id);
    const { data } = body;
    expect([status, data.id, data.old_code, data.old_pays_until]).toEqual([
      ...[200, id, value, days(14).toISOString()],
    ]);
    expect(data.value).toMatch(/^ZOE\w{3,}$/);
    const rotatedAt = at;
    at = days(1);
    expect((await paid(data.value, at)).link).toBe(id);
    expect(await paid(value, at)).toEqual({
      link: id,
      explanation: expect.stringContaining(
        `It is an old code, which was replaced on ${rotatedAt.toISOString().slice(0, 10)} and pays until`,
      ),
    });
    at = days(14);
    expect((await paid(value, at)).link).toBeNull();
    expect((await paid(data.value, at)).link).toBe(id);
    expect((await paid(value, new Date(rotatedAt.getTime() - 60_000))).explanation).not.toContain('old code');
  });

  it('gets the chosen value, also twice in a row, and each old code pays until its own date', async () => {
    const { id, value } = await desk.made({ value: codeValue() });
    const [second, third] = [codeValue(), codeValue()];
    expect((await rotate(id, { value: second, old_pays_until: days(30).toISOString() })).status).toBe(200);
    at = new Date(at.getTime() + 1_000);
    expect((await rotate(id, { value: third, old_pays_until: at.toISOString() })).status).toBe(200);
    at = days(1);
    expect(await Promise.all([value, second, third].map(async (code) => (await paid(code, at)).link))).toEqual([
      ...[id, null, id],
    ]);
  });

  it('reserves its old value until the date, and no longer', async () => {
    const { id, value } = await desk.made({ value: codeValue() });
    await rotate(id, { old_pays_until: days(5).toISOString() });
    const other = await desk.made({ value: codeValue() });
    const wanted = { creator_email: other.creator_email, value: value.toLowerCase() };
    const refused = await desk.send('POST', LINKS, wanted);
    expect([refused.status, refused.body.code, refused.body.existing_id]).toEqual([409, 'DUPLICATE_CODE', id]);
    expect((await desk.send('PATCH', `${LINKS}/${other.id}`, { value })).status).toBe(409);
    expect((await rotate(other.id, { value })).status).toBe(409);
    expect((await desk.send('PATCH', `${LINKS}/${id}`, { value })).status).toBe(200);
    await rotate(id, { old_pays_until: days(5).toISOString() });
    at = days(6);
    expect((await desk.send('POST', LINKS, wanted)).status).toBe(201);
  });

  it('is rotated once under one Idempotency-Key, is audited, and its creator is mailed the new code on request', async () => {
    const { id, creator_email } = await desk.made({ value: codeValue(), notify: true });
    at = new Date(at.getTime() + 1_000);
    const key = await desk.brand.key('brand');
    const headers = { 'idempotency-key': unique('rotate'), 'content-type': 'application/json' };
    const again = () =>
      call(`${app.url}${LINKS}/${id}/rotate`, key, { method: 'POST', headers, body: '{"notify":true}' });
    const first = await again();
    expect((await again()).body).toEqual(first.body);
    const audit = (await desk.get(`/v1/audit-log?resource_id=${id}`)).body.data;
    expect(audit.map(({ operation }: { operation: string }) => operation)).toEqual([
      ...['rotate_affiliate_link', 'create_affiliate_link'],
    ]);
    const mails = (await desk.get('/v1/mails?limit=100')).body.data;
    expect(mails.filter(({ to }: { to: string }) => to === creator_email)).toHaveLength(2);
  });

  it('is refused with a date out of bounds, for a link, with the same value, and for a stranger', async () => {
    const { id, value } = await desk.made({ value: codeValue() });
    const link = await desk.made({ type: 'link', value: unique('l'), destination_url: SHOP });
    const refusals = await Promise.all([
      rotate(id, { old_pays_until: daysAgo(1, at).toISOString() }),
      rotate(id, { old_pays_until: days(91).toISOString() }),
      rotate(id, { value: value.toLowerCase() }),
      rotate(link.id),
    ]);
    expect(refusals.map((answer) => [answer.status, ...problemsOf(answer)])).toEqual([
      ...[
        [422, 'old_pays_until invalid'],
        [422, 'old_pays_until invalid'],
        [422, 'value invalid'],
        [422, 'id invalid'],
      ],
    ]);
    const stranger = await openDesk(app);
    const { status } = await send(`${app.url}${LINKS}/${id}/rotate`, await stranger.brand.key('brand'), 'POST', {});
    expect(status).toBe(404);
  });
});
