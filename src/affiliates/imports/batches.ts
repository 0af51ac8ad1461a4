import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getBrand } from '../../platform/brands/brands.ts';
import { findFault } from '../../platform/imports/reading/faults.ts';
import type { ByteSource, Line, Request } from '../../platform/imports/reading/shapes.ts';
import { JobFailure, type TurnOutcome } from '../../platform/jobs/jobs.ts';
import { toReadingRequest } from '../reconciliations/read.ts';
import { findStore } from '../reconciliations/reconciliations.ts';
import { judgeCompared } from './compare-orders.ts';
import type { Of } from './imports.shapes.ts';
import type { ImportRow } from './imports.ts';
import type { Judged } from './tallies.ts';
import { commissionsWriter } from './write-commissions.ts';
import { ordersWriter } from './write-orders.ts';
import { paymentsWriter } from './write-payments.ts';
import { payoutsWriter } from './write-payouts.ts';
import { rosterWriter } from './write-roster.ts';
import type { JudgeFacts, Writer } from './writer.ts';

const WRITERS: Readonly<Record<Exclude<Of, 'reconciliation'>, Writer>> = {
  orders: ordersWriter,
  commissions: commissionsWriter,
  roster: rosterWriter,
  payouts: payoutsWriter,
  payment_details: paymentsWriter,
};

const getJudge = (of: Of): Writer['judge'] => (of === 'reconciliation' ? judgeCompared : WRITERS[of].judge);

export function getWriter(of: Of): Writer {
  if (of === 'reconciliation') throw new Error('A comparison records nothing.');
  return WRITERS[of];
}

/** Records of one transaction. */
export const BATCH = 500;

export function toByteSource({ files }: Context, { storageKey, fileName, sizeBytes }: ImportRow): ByteSource {
  if (storageKey === null) throw new JobFailure('The file was removed; send it again.');
  return { name: fileName, sizeBytes, read: (range) => files.read(storageKey, range) };
}

export async function toRequest(db: Db, row: ImportRow, now: Date): Promise<Request> {
  const storedMapping = row.stored === null ? {} : { stored: row.stored };
  if (row.of === 'reconciliation') {
    const store = row.integrationId === null ? undefined : await findStore(db, row.brandId, row.integrationId);
    if (!store) throw new JobFailure('The store no longer exists.');
    return { ...toReadingRequest(store, row.mapping, now), ...storedMapping };
  }
  const brand = await getBrand(db, row.brandId);
  const stores = await db
    .selectFrom('integrations')
    .select(['provider as platform', 'currency'])
    .where('brandId', '=', row.brandId)
    .where('status', '=', 'connected')
    .execute();
  return {
    of: row.of,
    mapping: row.mapping,
    ...storedMapping,
    brand: { currency: brand.currency, timeZone: brand.timeZone, stores },
    now,
  };
}

/** Lines in batches that the brand's own records are compared with. */
async function* splitLines(lines: AsyncIterable<Line[]>): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  for await (const some of lines) {
    for (const line of some) {
      batch.push(line);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The next batch is read while one is dealt with: the engines and this process work at the same time. */
export async function* inBatches(lines: AsyncIterable<Line[]>): AsyncGenerator<Line[]> {
  const batches = splitLines(lines);
  try {
    for (let next = batches.next(); ; ) {
      const { value, done } = await next;
      if (done) return;
      next = batches.next();
      // Its failure is thrown when its turn comes.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await batches.return(undefined);
  }
}

const keepOutcome = (line: Line): Judged[] =>
  line.outcome === 'read'
    ? []
    : [{ line, outcome: line.outcome, kind: line.kind, message: line.message, knownId: null }];

/** The cell that a refusal by the brand's own records is about. */
function addFault(judgedLine: Judged, { plan }: ImportRow): Judged {
  const { outcome, kind, line } = judgedLine;
  if (outcome !== 'refused' || kind === null || plan === null) return judgedLine;
  return { ...judgedLine, line: { ...line, fault: findFault(plan, line.cells, kind) } };
}

/** An order that was called off is compared by what it says of a known one. */
const toCompared = (line: Line): Line => (line.called_off ? { ...line, record: line.called_off } : line);

/** Compares a batch; lines that were not read keep their outcome, and all keep their order. */
export async function judgeBatch(db: Db, row: ImportRow, lines: readonly Line[], facts: JudgeFacts): Promise<Judged[]> {
  const comparedLines = lines.map(toCompared);
  const judgedLines = await getJudge(row.of)(
    db,
    row,
    comparedLines.filter(({ outcome, called_off }) => outcome === 'read' || called_off !== undefined),
    facts,
  );
  const byLine = new Map(judgedLines.map((one) => [one.line, one]));
  return lines.flatMap((line, i) => {
    const one = byLine.get(comparedLines[i] ?? line);
    return one ? addFault(one, row) : keepOutcome(line);
  });
}

export const toActor = ({ brandId }: ImportRow) => ({ brandId, keyId: null, operation: 'run_import', requestId: null });

export const endTurn = (rows: number, result: object = {}): TurnOutcome => ({
  cursor: null,
  rows,
  result,
  isDone: true,
});
