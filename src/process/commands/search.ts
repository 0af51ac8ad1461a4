import { once } from 'node:events';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { CreatorSearchQuery, Suggestion } from '../../directory/search/search.shapes.ts';
import { listIgnoredProblems } from '../../directory/search/walk-parameters.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { formatNumber } from '../../kit/values/format.ts';
import { newId } from '../../kit/values/ids.ts';
import { openBar } from '../../local/bar.ts';
import { filled } from './arguments.ts';
import { around } from './around.ts';
import { assertWritable } from './files.ts';
import { openRest, RefusedError, type Rest } from './rest.ts';
import { onStop } from './signals.ts';

const SEARCH = '/v1/creators/search';
/** The walk continues this often without having read anything new. */
const RETRIES = 10;
const RETRY_MS = 500;

/** Creators that are paid together. */
const PAID_TOGETHER = 100;

const Size = z.object({
  pagination: z.object({ total: z.number() }),
  preview: z.object({ pages: z.number(), credits_to_fetch_all: z.number() }),
  meta: z.object({ suggestions: z.array(Suggestion).optional() }),
});
const Line = z.union([
  z.object({ pk: z.number() }),
  z.object({ cursor: z.string() }),
  z.object({ left: z.number() }),
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
  const [, name, value] = /^([\w-]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('must be a parameter of search, such as city=NYC.');
  if (before[name] !== undefined)
    throw new InvalidArgumentError(`names ${name} twice: give it once, or several values as ${name}_any=NYC|LA.`);
  return { ...before, [name]: value };
}

/** Shows how far a walk is where a person watches. */
function openProgress(total: number) {
  const { err } = around();
  const toText = (count: number) => ({ count: formatNumber(count), all: formatNumber(total) });
  const bar = err.isTTY ? openBar(err, '{bar} {percentage}% {count} of {all}', toText(0)) : undefined;
  return {
    show: (count: number) => bar?.update(total === 0 ? 1 : count / total, toText(count)),
    end: () => bar?.end(),
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

type Walking = Pick<Saved, 'filters' | 'requestId' | 'cursor'> & { rest: Rest; signal: AbortSignal };

/** Every creator of a walk as a line of JSON, each once, over as many calls as it takes, with the cursors between them. */
async function* partsOf({ rest, filters, requestId, cursor: from, signal }: Walking) {
  const headers = { accept: 'application/x-ndjson', 'x-request-id': requestId };
  const seenPks = new Set<number>();
  let cursor = from;
  for (let attempt = 0; attempt <= RETRIES; attempt += 1) {
    try {
      const query = new URLSearchParams({ ...filters, ...(cursor === undefined ? {} : { cursor }), walk: 'true' });
      const answer = await rest.open(`${SEARCH}?${query}`, headers, signal);
      const isPaid = answer.headers.get('x-credits-limit') !== null;
      yield { begun: { version: answer.headers.get('x-directory-version') ?? '', isPaid } };
      // The first line of a call that continues a walk is the cursor that it was sent.
      let isKnown = cursor !== undefined;
      for await (const text of wholeLines(answer.body)) {
        const line = Line.parse(JSON.parse(text));
        if ('cursor' in line) {
          // Creators before a cursor do not come again.
          if (!isKnown) {
            seenPks.clear();
            yield { cursor: line.cursor };
          }
          isKnown = false;
          cursor = line.cursor;
        } else if ('pk' in line) {
          if (seenPks.has(line.pk)) continue;
          seenPks.add(line.pk);
          attempt = 0;
          yield { creator: text };
        } else if ('left' in line) {
          yield { left: text };
        } else {
          const { complete, next, reason } = line.walk;
          if (complete) return;
          if (reason && reason.code !== 'SERVICE_UNAVAILABLE') throw new Error(`${reason.code}: ${reason.error}`);
          if (next) cursor = next;
        }
      }
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
  throw new Error('The walk broke again and again without reading anything new.');
}

/** A broken connection, or a server that is busy or starting. */
const isPassing = (error: unknown): boolean =>
  error instanceof RefusedError ? error.status === 429 || error.status >= 500 : error instanceof TypeError;

async function savedIn(file: string, filters: Filters): Promise<Saved | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreFailure('there is no walk to continue'));
  if (text === undefined) return undefined;
  const savedState = Saved.parse(JSON.parse(text));
  if (isDeepStrictEqual(savedState.filters, filters)) return savedState;
  throw new Error(`${file} belongs to a walk with other filters; finish that walk, or delete the file.`);
}

/** Replaces the file at once, so that a killed process leaves the one before. */
async function save(file: string, savedState: Saved): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(savedState));
  await rename(`${file}.new`, file);
}

interface WalkOptions {
  out: string;
  dataKey?: true;
  json?: true;
}

/** Refuses filters that search would ignore, before anything is sent: a walk is paid by its length. */
function assertFilters(filters: Filters): void {
  const knownNames = Object.keys(CreatorSearchQuery.shape);
  const entries = Object.entries(filters);
  const problems = listIgnoredProblems(
    {
      ignored: entries.flatMap(([name]) => (knownNames.includes(name) ? [] : [name])),
      blank: entries.flatMap(([name, value]) => (knownNames.includes(name) && value.trim() === '' ? [name] : [])),
    },
    knownNames,
  );
  if (problems.length > 0) throw new Error(problems.map(({ field, message }) => `${field} ${message}`).join('\n'));
}

/** Describes another search that finds somebody where this one finds nobody. */
function toHint({
  parameter,
  instead,
  instead_parameter: other = parameter,
  total,
}: z.output<typeof Suggestion>): string {
  const search = instead === null ? `the search without ${parameter}` : `${other}=${instead}`;
  return `Nobody is found; ${search} finds ${formatNumber(total)}.\n`;
}

const quote = (text: string) => (/^[\w=./:@,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command that continues a walk. */
function toCommand(filters: Filters, { out, dataKey, json }: WalkOptions): string {
  const quotedFilters = Object.entries(filters).map(([name, value]) => quote(`${name}=${value}`));
  const options = [...(dataKey ? ['--data-key'] : []), ...(json ? ['--json'] : [])];
  return ['npm run --silent cli -- search', ...quotedFilters, '--walk', '--out', quote(out), ...options].join(' ');
}

interface Written {
  creators: number;
  left: number;
  version: string;
  isPaid: boolean;
}

/** Writes the creators of a walk to the part of its file, from where it was saved last. */
async function writePart(
  { out }: WalkOptions,
  savedState: Saved,
  parts: ReturnType<typeof partsOf>,
  onCreators: (count: number) => void,
): Promise<Written> {
  const [part, state] = [`${out}.part`, `${out}.walk`];
  const handle = await open(part, savedState.bytes > 0 ? 'r+' : 'w');
  await handle.truncate(savedState.bytes);
  const file = handle.createWriteStream({ start: savedState.bytes });
  const progress: Written = { creators: savedState.creators, left: 0, version: '', isPaid: false };
  let { bytes } = savedState;
  try {
    for await (const one of parts) {
      if (one.begun) Object.assign(progress, one.begun);
      else if (one.cursor !== undefined) {
        // Whatever comes before the cursor is in the file.
        await new Promise((resolve) => file.write('', resolve));
        await save(state, { ...savedState, cursor: one.cursor, bytes, creators: progress.creators });
      } else {
        const line = `${one.creator ?? one.left}\n`;
        if (!file.write(line)) await once(file, 'drain');
        bytes += Buffer.byteLength(line);
        if (one.left !== undefined) progress.left += 1;
        else {
          progress.creators += 1;
          onCreators(progress.creators);
        }
      }
    }
  } finally {
    file.end();
    await finished(file);
  }
  await rename(part, out);
  await rm(state, { force: true });
  return progress;
}

async function walk(filters: Filters, options: WalkOptions): Promise<void> {
  const { out, dataKey, json } = options;
  assertFilters(filters);
  await assertWritable(out);
  const signal = onStop();
  const startedAt = performance.now();
  const rest = openRest(dataKey ? 'data' : 'brand');
  const earlierState = await savedIn(`${out}.walk`, filters);
  const preview = new URLSearchParams({ ...filters, preview: 'true', walk: 'true' });
  const { pagination, preview: price, meta } = Size.parse(await rest.send('GET', `${SEARCH}?${preview}`));
  for (const suggestion of pagination.total === 0 ? (meta.suggestions ?? []) : [])
    around().err.write(toHint(suggestion));
  if (earlierState) around().err.write(`Continuing after ${formatNumber(earlierState.creators)} creators.\n`);
  const savedState: Saved = earlierState ?? { filters, requestId: newId('req', Date.now()), bytes: 0, creators: 0 };
  // Before the first call: sent again with its id, it is not paid twice.
  if (!earlierState) await save(`${out}.walk`, savedState);
  const progress = openProgress(pagination.total);
  const parts = partsOf({ rest, signal, ...savedState });
  const { creators, left, version, isPaid } = await writePart(options, savedState, parts, progress.show)
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
      const command = toCommand(filters, options);
      throw new Error(`Stopped. This continues it, and pays for no creator twice:\n  ${command}`, { cause: error });
    })
    .finally(progress.end);
  const blocks = Math.max(1, Math.ceil(creators / PAID_TOGETHER));
  const credits = isPaid ? blocks * (price.credits_to_fetch_all / price.pages) : 0;
  const leftCount = filters.changed_since === undefined ? {} : { left };
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  if (json)
    around().out.write(`${JSON.stringify({ creators, ...leftCount, credits, seconds, directory_version: version })}\n`);
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
