import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../harness/app.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../harness/workflow/work.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

async function sent({ creator, post }: WorkDesk) {
  const deliverables = [{ type: 'reel', platform: 'photo_app', quantity: 2 }];
  const input = { creator_email: creator, title: 'Summer', deliverables, send_for_signature: true };
  const { status, body } = await post('/v1/contracts', input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data;
}
const sign = (desk: WorkDesk, link: string, name: string) => desk.fill(link, { name, agree: 'yes' });

describe('a contract', () => {
  it.each([
    ['zero-width spaces', '\u200b\u200b\u200b'],
    ['zero-width spaces and one letter', '\u200bA\u200b'],
    ['Hangul fillers', '\u3164\u3164\u115f'],
    ['joiners', '\u200d\u200c\u200d'],
    ['a braille blank', '\u2800\u2800'],
    ['soft hyphens', '\u00ad\u00ad'],
    ['dots', '...'],
  ])('cannot be signed by %s', async (_what, name) => {
    const desk = await openWorkDesk(app);
    const { id, signature_url } = await sent(desk);
    const refused = await sign(desk, signature_url, name);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Type your full name.');
    expect(await desk.read(`/v1/contracts/${id}`)).toMatchObject({ status: 'sent', signer_name: null });
  });

  it.each([
    ['王伟', '王伟'],
    ['Nguyễn\u00a0 Thị\u200b Hoa\u202e', 'Nguyễn Thị Hoa'],
    ['علی\u200cرضا', 'علی\u200cرضا'],
  ])('can be signed by %j, as displayed', async (name, kept) => {
    const desk = await openWorkDesk(app);
    const { id, signature_url } = await sent(desk);
    expect((await sign(desk, signature_url, name)).status).toBe(303);
    expect((await desk.read(`/v1/contracts/${id}`)).signer_name).toBe(kept);
  });
});
