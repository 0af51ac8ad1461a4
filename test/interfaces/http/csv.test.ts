import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, made, makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase } from '../../harness/database.ts';

let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp();
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

describe('A list as CSV', () => {
  it('streams every row of the list in its order, for one unit of the rate, with no cell that is a formula', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const campaigns = `${app.url}/v1/campaigns`;
    await made(campaigns, caller, { name: '=HYPERLINK("x")', type: '+1' });
    for (let i = 0; i < 25; i += 1) await made(campaigns, caller, { name: `a "quoted", name ${i}` });
    const { status, headers, body } = await call(`${app.url}/v1/campaigns?limit=5`, caller, {
      headers: { accept: 'text/csv' },
    });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const lines = body.trim().split('\n');
    expect(lines).toHaveLength(27);
    expect(lines[0]).toMatch(/^id,title,status,campaign_type,compensation_label,/);
    expect(lines[1]).toContain('"a ""quoted"", name 24"');
    expect(lines[26]).toContain(`"'=HYPERLINK(""x"")",active,'+1,`);
    const before = Number(headers.get('x-ratelimit-remaining'));
    const after = await call(`${app.url}/v1/campaigns`, caller);
    expect(Number(after.headers.get('x-ratelimit-remaining'))).toBe(before - 1);
  });

  it('shows of a name what was meant, and nothing that turns or hides text', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    await made(`${app.url}/v1/campaigns`, caller, { name: 'Spring \u202egnirpS\u200b\u2028sale 🎉' });
    const { body } = await call(`${app.url}/v1/campaigns`, caller, { headers: { accept: 'text/csv' } });
    expect(body.split(',')).toContain('"Spring gnirpS\nsale 🎉"');
  });

  it('begins with a byte order mark where that is asked for, and ends its lines as Windows does for a spreadsheet', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    await made(`${app.url}/v1/campaigns`, caller, { name: 'Jörg' });
    const get = async (query: string, accept: string) => {
      const headers = { accept, authorization: `Bearer ${caller}` };
      return Buffer.from(await (await fetch(`${app.url}/v1/campaigns${query}`, { headers })).arrayBuffer());
    };
    const plain = await get('', 'text/csv');
    expect(plain.subarray(0, 3).toString()).toBe('id,');
    expect(await get('?bom=true', 'text/csv')).toEqual(Buffer.concat([Buffer.from('efbbbf', 'hex'), plain]));
    expect(await get('?bom=True', 'text/csv')).toEqual(await get('?bom=true', 'text/csv'));
    const refused = await call(`${app.url}/v1/campaigns?bom=yes`, caller, { headers: { accept: 'text/csv' } });
    expect([refused.status, refused.body.details?.[0].field]).toEqual([422, 'bom']);
    const excel = await get('', 'text/csv; profile=excel');
    expect(excel.toString()).toBe(`\ufeff${plain.toString().replaceAll('\n', '\r\n')}`);
  });

  it('is 406 where an operation has none', async () => {
    const { status, body } = await call(`${app.url}/v1/brand`, key, { headers: { accept: 'text/csv' } });
    expect([status, body.code]).toEqual([406, 'NOT_ACCEPTABLE']);
  });

  it('ends with a closed connection and no last chunk if the stream fails', async () => {
    // A separate database, because its connections are terminated.
    const database = await makeDatabase('campaigns');
    const alone = await startApp({ urls: { postgres: database.url } });
    const owner = await makeBrand(alone.context);
    const caller = await owner.key('brand');
    const now = new Date();
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      id: `cmp_${owner.id}_${i}`,
      brandId: owner.id,
      title: 'x'.repeat(150),
      status: 'draft' as const,
      createdAt: now,
    }));
    for (let i = 0; i < rows.length; i += 2_000)
      await alone.context.postgres.db
        .insertInto('campaigns')
        .values(rows.slice(i, i + 2_000))
        .execute();
    const response = await fetch(`${alone.url}/v1/campaigns`, {
      headers: { accept: 'text/csv', authorization: `Bearer ${caller}` },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'rollcall' and query like '%from "campaigns"%' and pid <> pg_backend_pid()`.execute(
      alone.context.postgres.db,
    );
    const rest = async () => {
      while (!(await reader?.read())?.done);
    };
    await expect(rest()).rejects.toThrow();
    await alone.close();
    await database.drop();
  });
});
