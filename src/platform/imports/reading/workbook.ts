import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Kind } from './kinds.ts';
import { BrokenFile } from './problems.ts';

const MEMORY_MB = 512;
const PATIENCE_MS = 60_000;

/** A sheet as UTF-8 text with commas. */
export interface Workbook {
  sheet: string;
  sheets: string[];
  /** Further sheets that have a table. */
  others: string[];
  /** Columns of dates that a spreadsheet may have read in the wrong order. */
  halfDates: number[];
  csv: Uint8Array;
}

const Answer = z.object({
  sheet: z.string(),
  sheets: z.array(z.string()),
  others: z.array(z.string()),
  halfDates: z.array(z.number()),
  csv: z.instanceof(Uint8Array),
});

const refuse = () => new BrokenFile('damaged_file', 'The workbook cannot be read. Save its sheet as CSV.');

/** Reads a workbook in a thread whose memory is limited: what it unpacks to cannot bring down the process. */
export async function readWorkbook(
  bytes: Uint8Array,
  wish: { of: Kind; sheet: string | undefined; hidden: readonly string[] },
): Promise<Workbook> {
  const worker = new Worker(new URL('./workbook-worker.ts', import.meta.url), {
    workerData: { bytes, of: wish.of, sheet: wish.sheet ?? null, hidden: wish.hidden },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const timer = setTimeout(() => void worker.terminate(), PATIENCE_MS);
  try {
    return await new Promise<Workbook>((resolve, reject) => {
      worker.once('message', (message) => {
        const answer = Answer.safeParse(message);
        if (answer.success) resolve(answer.data);
        else reject(refuse());
      });
      worker.once('error', () => reject(refuse()));
      worker.once('exit', () => reject(refuse()));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
