import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Kind } from './kinds.ts';
import { BrokenFile } from './problems.ts';

const MEMORY_MB = 512;
const PATIENCE_MS = 60_000;
/** A thread keeps some of the memory of what it has read: that of a larger workbook goes with its thread. */
const SMALL_BYTES = 1024 * 1024;
const KEPT_MS = 30_000;

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

/** A thread that has read a small workbook and waits for the next one: to load it takes twenty times as long as to read one. */
let idle: Worker | undefined;
let ending: NodeJS.Timeout | undefined;

function startWorker(): Worker {
  const worker = new Worker(new URL('./workbook-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  return worker.on('error', () => {
    if (idle === worker) idle = undefined;
  });
}

function takeWorker(): Worker {
  const worker = idle ?? startWorker();
  idle = undefined;
  clearTimeout(ending);
  worker.ref();
  return worker;
}

/** Keeps a thread for the next workbook, or ends it if another one is kept. A process ends without waiting for it. */
function keepWorker(worker: Worker): void {
  if (idle !== undefined) return void worker.terminate();
  idle = worker;
  worker.unref();
  ending = setTimeout(() => {
    idle = undefined;
    void worker.terminate();
  }, KEPT_MS).unref();
}

/** Reads a workbook in a thread whose memory is limited: what it unpacks to cannot bring down the process. */
export async function readWorkbook(
  bytes: Uint8Array,
  wish: { of: Kind; sheet: string | undefined; hidden: readonly string[] },
): Promise<Workbook> {
  const worker = takeWorker();
  const listening = new AbortController();
  const { signal } = listening;
  const timer = setTimeout(() => void worker.terminate(), PATIENCE_MS);
  let isReusable = false;
  try {
    const answered = once(worker, 'message', { signal });
    const ended = once(worker, 'exit', { signal });
    worker.postMessage({ bytes, of: wish.of, sheet: wish.sheet ?? null, hidden: wish.hidden });
    const [message] = await Promise.race([answered, ended]);
    const answer = Answer.safeParse(message);
    if (!answer.success) throw refuse();
    isReusable = bytes.length <= SMALL_BYTES;
    return answer.data;
  } catch {
    throw refuse();
  } finally {
    listening.abort();
    clearTimeout(timer);
    if (isReusable) keepWorker(worker);
    else await worker.terminate();
  }
}
