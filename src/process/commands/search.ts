import { once } from 'node:events';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { filled } from './arguments.ts';
import { around } from './around.ts';
import { openRest, RefusedError, type Rest } from './rest.ts';

const SEARCH = '/v1/creators/search';
/** The walk continues this often without having read anything new. */
const RETRIES = 10;
const RETRY_MS = 500;

/** Creators that are paid together. */
const PAID_TOGETHER = 100;

const Size = z.object({
  pagination: z.object({ total: z.number() }),
  preview: z.object({ pages: z.number(), credits_to_fetch_all: z.number() }),
});
const Line = z.union([
  z.object({ pk: z.number() }),
  z.object({ cursor: z.string() }),
  z.object({
    walk: z.object({
      complete: z.boolean(),
      next: z.string().nullable(),
      reason: z.object({ code: z.string(), error: z.string() }).optional(),
    }),
  }),
]);

type Filters = Record<string, string>;

function toFilter(text: string, before: Filters = {}): Filters {
  const [, name, value] = /^(\w+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('must be a parameter of search, such as city=NYC.');
  return { ...before, [name]: value };
}

/** Shows how far a walk is where a person watches. */
function openProgress(total: number) {
  const width = 30;
  let shown = '';
  return (count: number, isLast = false) => {
    if (!around().err.isTTY) return;
    const share = total === 0 ? 1 : Math.min(1, count / total);
    const bar = '#'.repeat(Math.floor(share * width)).padEnd(width, '.');
    const text = `\r[${bar}] ${Math.floor(share * 100)}% ${count.toLocaleString('en')} of ${total.toLocaleString('en')}`;
    if (text !== shown) around().err.write(isLast ? `${text}\n` : text);
    shown = text;
  };
}

async function* wholeLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    const lines = `${text}${decoder.decode(chunk, { stream: true })}`.split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}

/** The position of an interrupted walk. It is stored beside the file, so that the same command continues it. */
const Saved = z.object({
  filters: z.record(z.string(), z.string()),
  requestId: z.string(),
  cursor: z.string().optional(),
  /** Bytes and creators of the file before the cursor. */
  bytes: z.number(),
  creators: z.number(),
});
type Saved = z.infer<typeof Saved>;

type Walking = Pick<Saved, 'filters' | 'requestId' | 'cursor'> & { rest: Rest };

/** Every creator of a walk as a line of JSON, each once, over as many calls as it takes, with the cursors between them. */
async function* partsOf({ rest, filters, requestId, cursor: from }: Walking) {
  const headers = { accept: 'application/x-ndjson', 'x-request-id': requestId };
  const seen = new Set<number>();
  let cursor = from;
  for (let attempt = 0; attempt <= RETRIES; attempt += 1) {
    try {
      const query = new URLSearchParams({ ...filters, ...(cursor === undefined ? {} : { cursor }), walk: 'true' });
      const answer = await rest.open(`${SEARCH}?${query}`, headers);
      const isPaid = answer.headers.get('x-credits-limit') !== null;
      yield { begun: { version: answer.headers.get('x-directory-version') ?? '', isPaid } };
      // The first line of a call that continues a walk is the cursor that it was sent.
      let isKnown = cursor !== undefined;
      for await (const text of wholeLines(answer.body)) {
        const line = Line.parse(JSON.parse(text));
        if ('cursor' in line) {
          // Creators before a cursor do not come again.
          if (!isKnown) {
            seen.clear();
            yield { cursor: line.cursor };
          }
          isKnown = false;
          cursor = line.cursor;
        } else if ('pk' in line) {
          if (seen.has(line.pk)) continue;
          seen.add(line.pk);
          attempt = 0;
          yield { creator: text };
        } else {
          const { complete, next, reason } = line.walk;
          if (complete) return;
          if (reason && reason.code !== 'SERVICE_UNAVAILABLE') throw new Error(`${reason.code}: ${reason.error}`);
          if (next) cursor = next;
        }
      }
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await sleep(RETRY_MS);
  }
  throw new Error('The walk broke again and again without reading anything new.');
}

/** A broken connection, or a server that is busy or starting. */
const isPassing = (error: unknown): boolean =>
  error instanceof RefusedError ? error.status === 429 || error.status >= 500 : error instanceof TypeError;

async function savedIn(file: string, filters: Filters): Promise<Saved | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreFailure('there is no walk to continue'));
  if (text === undefined) return undefined;
  const saved = Saved.parse(JSON.parse(text));
  if (isDeepStrictEqual(saved.filters, filters)) return saved;
  throw new Error(`${file} belongs to a walk with other filters; finish that walk, or delete the file.`);
}

/** Replaces the file at once, so that a killed process leaves the one before. */
async function save(file: string, saved: Saved): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(saved));
  await rename(`${file}.new`, file);
}

interface WalkOptions {
  out: string;
  dataKey?: true;
  json?: true;
}

async function walk(filters: Filters, { out, dataKey, json }: WalkOptions): Promise<void> {
  const startedAt = performance.now();
  const rest = openRest(dataKey ? 'data' : 'brand');
  const [part, state] = [`${out}.part`, `${out}.walk`];
  const known = await savedIn(state, filters);
  const preview = new URLSearchParams({ ...filters, preview: 'true', walk: 'true' });
  const { pagination, preview: price } = Size.parse(await rest.send('GET', `${SEARCH}?${preview}`));
  const show = openProgress(pagination.total);
  if (known) around().err.write(`Continuing after ${known.creators.toLocaleString('en')} creators.\n`);
  const saved: Saved = known ?? { filters, requestId: newId('req', Date.now()), bytes: 0, creators: 0 };
  // Before the first call: sent again with its id, it is not paid twice.
  if (!known) await save(state, saved);
  const handle = await open(part, saved.bytes > 0 ? 'r+' : 'w');
  await handle.truncate(saved.bytes);
  const file = handle.createWriteStream({ start: saved.bytes });
  let { bytes, creators } = saved;
  let version = '';
  let isPaid = false;
  for await (const one of partsOf({ rest, ...saved })) {
    if (one.begun) ({ version, isPaid } = one.begun);
    else if (one.cursor !== undefined) {
      // Whatever comes before the cursor is in the file.
      await new Promise((resolve) => file.write('', resolve));
      await save(state, { ...saved, cursor: one.cursor, bytes, creators });
    } else {
      const line = `${one.creator}\n`;
      if (!file.write(line)) await once(file, 'drain');
      bytes += Buffer.byteLength(line);
      creators += 1;
      show(creators);
    }
  }
  file.end();
  await finished(file);
  await rename(part, out);
  await rm(state, { force: true });
  show(creators, true);
  const blocks = Math.max(1, Math.ceil(creators / PAID_TOGETHER));
  const credits = isPaid ? blocks * (price.credits_to_fetch_all / price.pages) : 0;
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  if (json) around().out.write(`${JSON.stringify({ creators, credits, seconds, directory_version: version })}\n`);
  else around().out.write(`${creators}\n`);
}

export function searchCommands(program: Command): void {
  program
    .command('search')
    .description(
      'every creator that a search finds, as a file of JSON lines; the same command continues a walk that was interrupted',
    )
    .argument('[filters...]', 'parameters of search, such as city=NYC', toFilter)
    .requiredOption('--walk', 'walk the whole result')
    .requiredOption('--out <file>', 'file for the creators, one JSON object per line', filled)
    .option('--data-key', 'use ROLLCALL_DATA_KEY and its credits instead of ROLLCALL_BRAND_KEY')
    .option('--json', 'print creators, credits of the whole walk, seconds and the version of the directory')
    // Without filters it is an empty list.
    .action((filters: Filters | [], options: WalkOptions) => walk(Array.isArray(filters) ? {} : filters, options));
}
