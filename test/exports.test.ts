import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, openDesk } from './harness/affiliates.ts';
import { startApp, type TestApp, unique } from './harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

/** A brand with so many creators, whose names are as long as is asked. */
async function withRoster(count: number, nameLength: number): Promise<Desk> {
  const desk = await openDesk(app);
  const [brandId, prefix, at] = [desk.brand.id, unique('crt'), app.context.clock.now()];
  await sql`
    with made as (
      insert into creators (id, brand_id, name, created_at)
      select ${prefix} || '-' || n, ${brandId}, repeat('n', ${nameLength}), ${at} from generate_series(1, ${count}) n
      returning id
    )
    insert into roster_entries (id, brand_id, creator_id, status, added_at)
    select 'entry-' || id, ${brandId}, id, 'active', ${at} from made
  `.execute(app.context.postgres.db);
  return desk;
}

const linesOf = (csv: string): number => csv.split('\n').length - 1;

describe('exports side by side', () => {
  it.each(['/v1/creators', '/v1/roster'])('of %s are all answered in whole', async (path) => {
    const desk = await withRoster(1_001, 10);
    const answers = await Promise.all(Array.from({ length: 12 }, () => desk.get(path, 'text/csv')));
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(answers.map(({ body }) => linesOf(body))).toEqual(Array(12).fill(1_002));
  });
});
