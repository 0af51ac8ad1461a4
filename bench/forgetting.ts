import { sql } from 'kysely';
import { z } from 'zod';
import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { forget } from '../src/directory/opt-out/forget.ts';
import { KEY_CONTEXT, openForgotten } from '../src/directory/opt-out/forgotten.ts';
import { KINDS, type Name, type NameFields, openHashes } from '../src/directory/opt-out/hashes.ts';
import { findKey } from '../src/directory/opt-out/opt-out.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { benchCommand } from './command.ts';
import { alternate, median } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Results, round } from './report.ts';

const CREATORS = 100_000;
const FORGOTTEN = 10_000;
const ROUNDS = 4;

benchCommand(
  'bench forgetting',
  `Measures what ${FORGOTTEN.toLocaleString('en')} opt-outs cost an import of ${CREATORS.toLocaleString('en')} creators.`,
).parse();

const nameOf = (kind: Name['kind'], n: number): Name =>
  kind === 'pk' ? { kind, value: 9_000_000_000_000 + n } : { kind, value: `forgotten${n}@mail.example` };

const Row = z.object({ pk: z.number(), username: z.string(), extracted_email: z.string().nullable() });

/** Hashes of creators whom the sample does not have, so that each import writes the same rows. */
async function makeHashes(
  context: Context,
): Promise<{ id: string; kinds: string[]; hashes: Buffer[]; tags: number[] }> {
  const engines = toDirectoryEngines(context);
  const { id } = await forget(engines, nameOf('pk', 0), { reason: 'bench', by: 'operator' });
  const sealed = await findKey(engines.db);
  if (!sealed) throw new Error('There is no key.');
  const keyed = openHashes(engines.secrets().openBytes(sealed, KEY_CONTEXT));
  const names = KINDS.flatMap((kind) => Array.from({ length: FORGOTTEN - 1 }, (_, n) => nameOf(kind, n + 1)));
  return {
    id,
    kinds: names.map(({ kind }) => kind),
    hashes: names.map((name) => keyed.hashName(name)),
    tags: names.map((name) => keyed.tagName(name)),
  };
}

async function measure(results: Results, context: Context): Promise<void> {
  const { db } = context.postgres;
  await migratePostgres(db);
  await migrateClickHouse(context.clickhouse);
  const { id, kinds, hashes, tags } = await makeHashes(context);
  const secondsOf = async (isForgetting: boolean) => {
    await sql`delete from directory_forgotten_hashes where not is_named`.execute(db);
    if (isForgetting) {
      await sql`insert into directory_forgotten_hashes (forgotten_id, kind, hash, tag, is_named)
        select ${id}, kind, hash, tag, false from unnest(${kinds}::text[], ${hashes}::bytea[], ${tags}::int[]) as one (kind, hash, tag)`.execute(
        db,
      );
    }
    progress(`Importing with ${isForgetting ? FORGOTTEN.toLocaleString('en') : 'no'} opt-outs`);
    const [from, cpu] = [performance.now(), process.cpuUsage()];
    await importDirectory(toDirectoryEngines(context), {
      source: sampleSource(CREATORS, 1),
      bounds: { mode: 'force' },
    });
    const { user, system } = process.cpuUsage(cpu);
    return { wall: (performance.now() - from) / 1_000, cpu: (user + system) / 1_000_000 };
  };
  /** CPU seconds of reading the opt-outs once and of looking up every row, as an import does. */
  const secondsOfLookUps = async () => {
    const rows: NameFields[] = [];
    for await (const records of sampleSource(CREATORS, 1).read()) {
      for (const record of records) rows.push(Row.parse(record.value));
    }
    const cpu = process.cpuUsage();
    const forgotten = await openForgotten(toDirectoryEngines(context));
    const found = rows.filter(forgotten.has).length;
    const { user, system } = process.cpuUsage(cpu);
    if (found > 0) throw new Error('A creator of the sample opted out.');
    return (user + system) / 1_000_000;
  };
  await secondsOf(false);
  const [without = [], beside = []] = await alternate(ROUNDS, [() => secondsOf(false), () => secondsOf(true)]);
  const lookUps: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) lookUps.push(await secondsOfLookUps());
  await results.part('forgetting', async (add) => {
    for (const [name, of] of [
      ['import_time_with_opt_outs', 'wall'],
      ['import_cpu_with_opt_outs', 'cpu'],
    ] as const) {
      const [base, more] = [median(without.map((one) => one[of])), median(beside.map((one) => one[of]))];
      const measured = `${round(base)} s and ${round(more)} s, medians of ${ROUNDS}`;
      add({ name, value: more / base, floor: 1.03, bound: 'at most', measured, warm: '-' });
    }
    const [own, more] = [median(without.map(({ cpu }) => cpu)), median(lookUps)];
    const measured = `${round(more)} s of ${round(own)} s, without Elasticsearch`;
    add({
      name: 'look_ups_share_of_import_cpu',
      value: more / own,
      floor: 0.03,
      bound: 'at most',
      measured,
      warm: '-',
    });
  });
}

measureOnOwnEngines(measure, { elasticsearchHeapMb: 512 });
