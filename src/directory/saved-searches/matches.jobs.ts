import { transact } from '../../kit/engines/postgres/transaction.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { findLast } from '../changes/changes.ts';
import { findReadable, readSaved } from './filters.ts';
import {
  beginTracking,
  type DueSearch,
  isDue,
  isUndisturbed,
  listDue,
  listUnknown,
  lockDue,
  passSearches,
  recordMatches,
  recordProblem,
} from './matches.ts';
import { findMoment, findUnaffected, type Moment, readChanged, readKnown, type Search } from './matching.ts';

const READ_AT_ONCE = 200;
const COUNTED_AT_ONCE = 50;
const LOOKED_AT_ONCE = 4;

/** Reads first, then records what it found together with how far it looked; what another process records first counts. */
async function lookAt(context: Context, search: DueSearch, moment: Moment): Promise<void> {
  const { postgres, config, clock } = context;
  const { id, brandId, seq, seqAt } = search;
  const query = readSaved('filters', search.filters);
  const isCurrent = (trx: typeof postgres.db) => isUndisturbed(trx, config.directoryAlias, moment.seq);
  if (seq === null) {
    // Saved by an earlier release.
    const knownPks = await readKnown(context, brandId, query, moment);
    await transact(postgres.db, async (trx) => {
      if ((await isCurrent(trx)) && (await lockDue(trx, search)))
        await beginTracking(trx, id, { upTo: moment, known: knownPks });
    });
    return;
  }
  const pks: number[] = [];
  for await (const page of readChanged(context, { id, brandId, query }, { from: { seq, at: seqAt }, to: moment })) {
    pks.push(...(await listUnknown(postgres.db, id, page)));
  }
  const now = clock.now();
  await transact(postgres.db, async (trx) => {
    if (await isCurrent(trx)) await recordMatches(trx, search, { upTo: moment, pks, now });
  });
}

/** Filters that cannot be run any more match nobody until they are changed. */
async function lookSafely(context: Context, search: DueSearch, moment: Moment): Promise<unknown> {
  try {
    await lookAt(context, search, moment);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') return error;
    await recordProblem(context.postgres.db, search, moment, error.message);
    return undefined;
  }
}

/** Searches that cannot be read are handled one by one, so that each records why. */
function listReadable({ id, brandId, filters }: DueSearch): Search[] {
  const query = findReadable(filters);
  return query ? [{ id, brandId, query }] : [];
}

/** Moves the searches on that nobody new matches, all at once. Returns the others. */
async function passUnaffected(context: Context, searches: readonly DueSearch[], moment: Moment): Promise<DueSearch[]> {
  const [first] = searches;
  if (!first || first.seq === null) return [...searches];
  const span = { from: { seq: first.seq, at: first.seqAt }, to: moment };
  const unaffectedIds = await findUnaffected(context, searches.flatMap(listReadable), span).catch((error: unknown) => {
    // One of them cannot be run; each is tried by itself.
    if (error instanceof ApiError && error.code === 'VALIDATION_ERROR') return [];
    throw error;
  });
  const unaffectedSet = new Set(unaffectedIds);
  await passSearches(
    context.postgres.db,
    searches.filter(({ id }) => unaffectedSet.has(id)),
    moment,
  );
  return searches.filter(({ id }) => !unaffectedSet.has(id));
}

/** Looks for new matches of every search that has not seen the last changes of the directory. */
export async function findMatches(context: Context): Promise<void> {
  const { postgres, directory, config, stopping } = context;
  const last = await findLast(postgres.db, config.directoryAlias);
  if (!(await isDue(postgres.db, last?.seq ?? 0)) || (await directory.live()).index === undefined) return;
  const moment = await findMoment(context);
  const failures: unknown[] = [];
  for (let after = ''; !stopping.signal.aborted; ) {
    const searches = await listDue(postgres.db, moment.seq, after, READ_AT_ONCE);
    for (const alike of Map.groupBy(searches, ({ seq }) => seq).values()) {
      for (const some of toChunks(alike, COUNTED_AT_ONCE)) {
        for (const few of toChunks(await passUnaffected(context, some, moment), LOOKED_AT_ONCE)) {
          const results = await Promise.all(few.map((search) => lookSafely(context, search, moment)));
          failures.push(...results.filter((result) => result !== undefined));
        }
      }
    }
    after = searches.at(-1)?.id ?? after;
    if (searches.length < READ_AT_ONCE) break;
  }
  if (failures.length > 0) throw failures[0];
}

export const matchSavedSearches: Job = {
  name: 'match-saved-searches',
  everyMs: 5_000,
  asksFor: 'saved searches that have not seen the last changes of the directory',
  run: findMatches,
};
