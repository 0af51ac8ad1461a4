import { openBulk } from '../../../kit/engines/elastic/bulk.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import type { ForgottenSet } from '../../opt-out/forgotten.ts';
import { toDocument } from '../../search/document.ts';
import { hashContent } from './content-hash.ts';
import { MOST_COLUMNS_SHOWN } from './csv.ts';
import { distinctNumbers } from './distinct-numbers.ts';
import { countFilled, type Fill } from './fields.ts';
import { countEmails, countGuards, type GuardedField } from './identity.ts';
import { assertFewRejects, openRejects, type RejectLimit, type RejectReason, reasonLines } from './rejects.ts';
import { checkRecord } from './rows.ts';
import { createSampler, type SampledRow } from './sampler.ts';
import type { Source, SourceRecord } from './source.ts';

const CHECKPOINT_EVERY_MS = 500;

export interface Tally {
  /** Rows read, including rejects. */
  rows: number;
  accepted: number;
  rejected: number;
}

export interface BuildResult extends Tally {
  /** The number of different `pk`s among the accepted rows. */
  distinct: number;
  /** Unknown fields, with the number of rows that had each. */
  unknownFields: Record<string, number>;
  /** Rows that were left out because their creators opted out. */
  forgotten: number;
  /** Creators whose last row was left out; an earlier one may have been accepted. */
  leftOut: ReadonlySet<number>;
  samples: SampledRow[];
  /** By field: the share of accepted rows that have a value. */
  fill: Fill;
  /** Fields whose values begin with a guard. */
  guarded: GuardedField[];
  /** Why rows were rejected. */
  reasons: RejectReason[];
}

export interface BuildOptions {
  elastic: Elastic;
  index: string;
  source: Source;
  /** Rows up to here are in the index: they are validated and counted again, but not sent again. */
  acknowledged: number;
  /** The time of data without one, and of changes, in milliseconds since 1970. */
  importedAt: number;
  /** Creators that are left out. */
  forgotten: ForgottenSet;
  /** The operator's name for the source of the rows. */
  sourceName: string | undefined;
  /** The last change of a live creator's content, if its hash is this one. */
  findChangedAt(pk: number, hash: string): number | undefined;
  rejectLimit: RejectLimit;
  rejectsFile: string;
  signal?: AbortSignal | undefined;
  /** Elasticsearch may reject a batch this long before the build is given up. */
  patienceMs?: number | undefined;
  onProgress(tally: Tally): void;
  onRetry(reason: string): void;
  /** Called from time to time, and at the end, with the number of acknowledged rows. */
  onCheckpoint(position: number, tally: Tally): Promise<void>;
}

/** The build was stopped; all rows sent before are acknowledged and recorded. */
export class Interrupted extends Error {
  readonly position: number;
  constructor(position: number) {
    super(`Stopped after row ${position}.`);
    this.position = position;
  }
}

/** The bulk stream of a build, and how far it has been acknowledged. */
function openBatches(options: BuildOptions, tally: Tally) {
  let acknowledgedRow = options.acknowledged;
  let checkpointAt = performance.now();
  const bulk = openBulk(options.elastic, options.index, {
    onAcknowledged: (row) => {
      acknowledgedRow = row;
    },
    onRetry: options.onRetry,
    ...(options.patienceMs === undefined ? {} : { patienceMs: options.patienceMs }),
  });

  async function checkpoint(): Promise<void> {
    checkpointAt = performance.now();
    await options.onCheckpoint(acknowledgedRow, tally);
  }

  return {
    add: bulk.add,
    isFull: bulk.isFull,
    send: async () => {
      await bulk.send(tally.rows);
      if (performance.now() - checkpointAt > CHECKPOINT_EVERY_MS) await checkpoint();
    },
    /** Sends the remaining rows and waits for all of them. */
    finish: async () => {
      await bulk.send(tally.rows);
      await bulk.drain();
      acknowledgedRow = Math.max(acknowledgedRow, tally.rows);
      await checkpoint();
      return acknowledgedRow;
    },
    /** Waits for requests in flight, because nothing may be written to an index that is deleted next. */
    abandon: async () => {
      await bulk.drain().catch(ignoreFailure('the first failure is the one that is thrown'));
      await checkpoint();
    },
  };
}

/** Validates and counts records one by one, and adds their documents to the current body. */
function openIntake(options: BuildOptions, tally: Tally, add: (lines: string) => void) {
  const { importedAt } = options;
  const unknownFields = new Map<string, number>();
  const distinct = distinctNumbers();
  const samples = createSampler();
  const [fillCounter, emailCounter, guardCounter] = [countFilled(), countEmails(), countGuards()];
  const rejects = openRejects(options.rejectsFile);
  const leftOut = new Set<number>();
  let forgotten = 0;
  /** What a refusal says, beside the number of rows. */
  function explain(): string[] {
    const columns = options.source.columns?.() ?? [];
    return [
      ...reasonLines(rejects.reasons()),
      ...(columns.length > 0 ? [`Columns found: ${columns.slice(0, MOST_COLUMNS_SHOWN).join(', ')}.`] : []),
      `The rejected rows are in ${options.rejectsFile}.`,
    ];
  }
  return {
    explain,
    flushRejects: rejects.flush,
    close: () => {
      distinct.close();
      emailCounter.close();
    },
    take: (record: SourceRecord) => {
      tally.rows += 1;
      const { row, reject } = checkRecord(record, unknownFields);
      if (reject) {
        // Each line counts, because a stray quote merges a hundred good rows into one bad row.
        tally.rows += reject.lines - 1;
        tally.rejected += reject.lines;
        rejects.add(reject);
        assertFewRejects(options.rejectLimit, tally, false, explain);
        return;
      }
      if (options.forgotten.has(row)) {
        forgotten += 1;
        leftOut.add(row.pk);
        // An earlier row may have added the creator, also in an earlier part of the import.
        add(`{"delete":{"_id":"${row.pk}","version":${tally.rows},"version_type":"external_gte"}}\n`);
        return;
      }
      if (leftOut.size > 0) leftOut.delete(row.pk);
      tally.accepted += 1;
      distinct.add(row.pk);
      for (const counter of [fillCounter, emailCounter, guardCounter]) counter.add(row);
      const isSent = tally.rows <= options.acknowledged;
      if (isSent && !samples.wants(tally.accepted)) return;
      const hash = hashContent(row);
      const changedAt = options.findChangedAt(row.pk, hash) ?? importedAt;
      const document = JSON.stringify(toDocument(row, { importedAt, changedAt, hash, source: options.sourceName }));
      samples.offer(tally.accepted, { pk: row.pk, version: tally.rows, document });
      if (isSent) return;
      add(`{"index":{"_id":"${row.pk}","version":${tally.rows},"version_type":"external_gte"}}\n${document}\n`);
    },
    built: (): BuildResult => ({
      ...tally,
      distinct: distinct.count(),
      unknownFields: Object.fromEntries(unknownFields),
      forgotten,
      leftOut,
      samples: samples.taken(),
      fill: { ...fillCounter.fill(), ...emailCounter.fill() },
      guarded: guardCounter.guarded(),
      reasons: rejects.reasons(),
    }),
  };
}

/**
 * Reads, validates and writes every row. The version is the row number, so the last row of a repeated `pk` wins in any
 * order.
 */
export async function buildIndex(options: BuildOptions): Promise<BuildResult> {
  const { source, rejectLimit, signal } = options;
  const tally: Tally = { rows: 0, accepted: 0, rejected: 0 };
  const batches = openBatches(options, tally);
  const intake = openIntake(options, tally, batches.add);
  try {
    for await (const records of source.read()) {
      for (const record of records) {
        intake.take(record);
        if (batches.isFull()) await batches.send();
      }
      intake.flushRejects();
      options.onProgress(tally);
      if (signal?.aborted) throw new Interrupted(await batches.finish());
    }
    await batches.finish();
    assertFewRejects(rejectLimit, tally, true, intake.explain);
    return intake.built();
  } catch (error) {
    intake.flushRejects();
    if (!(error instanceof Interrupted)) await batches.abandon();
    throw error;
  } finally {
    intake.close();
  }
}
