import { describe, expect, test } from 'vitest';
import { deadExports } from '../check/exports.ts';
import { repositoryFiles } from '../check/files.ts';
import { violations } from '../check/house.ts';
import { codeOf } from '../check/source.ts';

const judge = (file: string, text: string) => violations(new Map([[file, text]]));

const QUERY = 'src/workflow/campaigns/queries.ts';

/** What is planted, where, and a word of what must be said about it. */
const PLANTED: [what: string, file: string, text: string, said: string][] = [
  ['a client outside its room', 'src/workflow/campaigns/routes.ts', "import { Pool } from 'pg';", 'imports pg'],
  [
    'a client in the wrong room',
    'src/kit/engines/redis/open.ts',
    "import { Client } from '@elastic/elasticsearch';",
    'imports @elastic/elasticsearch',
  ],
  [
    'a part of a client',
    'src/interfaces/http/gate.ts',
    "import { utils } from 'ioredis/built/utils';",
    'imports ioredis',
  ],
  ['a client imported when needed', 'src/worker.ts', "const { Worker } = await import('bullmq');", 'imports bullmq'],
  ['a client of the indexer', 'indexer/status.ts', "import 'undici';", 'imports undici'],
  ['a type of a client', 'src/kit/operation/operation.ts', "import type { Pool } from 'pg';", 'imports pg'],
  ['statements in a handler', 'src/workflow/campaigns/routes.ts', "import { sql } from 'kysely';", 'imports kysely'],
  [
    'an engine that knows a resource',
    'src/kit/engines/elastic/open.ts',
    "import { x } from '../../resources/creators/directory/query.ts';",
    'above it',
  ],
  [
    'an engine that knows who calls',
    'src/kit/engines/postgres/open.ts',
    "import { x } from '../../access/keys/keys.ts';",
    'above it',
  ],
  ['a resource that knows a door', QUERY, "import { openDoor } from '../../http/gate.ts';", 'above it'],
  [
    'a door that knows another',
    'src/interfaces/mcp/routes.ts',
    "import { isLegacy } from '../legacy/hosts.ts';",
    'doors do not know',
  ],
  [
    'the ground of the doors that knows one',
    'src/interfaces/http/app.ts',
    "import { mcpRoutes } from '../mcp/routes.ts';",
    'doors do not know',
  ],
  [
    'the meter that knows a resource',
    'src/kit/access/credits/meter.ts',
    "import { x } from '../../resources/brands/queries.ts';",
    'above it',
  ],
  ['an action that knows every noun', QUERY, "import { nouns } from '../nouns.ts';", 'list of all nouns'],
  ['a further file of a noun', 'src/resources/campaigns/more-queries.ts', 'export {};', "none of a noun's files"],
  [
    'a table outside queries.ts',
    'src/kit/access/keys/keys.ts',
    "declare module '../../engines/postgres/tables.ts' { interface Database { keys: KeysTable } }",
    'tables stand in queries.ts',
  ],
  [
    'the app that knows a process',
    'src/interfaces/http/app.ts',
    "import { buildApps } from '../process/apps.ts';",
    'above it',
  ],
  [
    "another noun's routes",
    QUERY,
    "import { x } from '../brands/routes.ts';",
    'only its schema, policy, queries and actions',
  ],
  ['a noun downstream', QUERY, "import { x } from '../payouts/queries.ts';", 'not upstream'],
  [
    'a noun beside',
    'src/analytics/analytics/queries.ts',
    "import { x } from '../webhooks/queries.ts';",
    'not upstream',
  ],
  ['a noun without a place that another imports', QUERY, "import { x } from '../widgets/queries.ts';", 'not upstream'],
  ['a room nobody knows', 'src/billing/rates.ts', 'export const x = 1;', 'no known room'],
  [
    'production that needs a test',
    'src/local/demo.ts',
    "import { x } from '../harness/app.ts';",
    'not part of what runs',
  ],
  [
    'production that needs the indexer',
    'src/cli.ts',
    "import { x } from '../indexer/generate.ts';",
    'not part of what runs',
  ],
  [
    'an indexer that needs a bench',
    'indexer/main.ts',
    "import { x } from '../bench/sides.ts';",
    'not part of what runs',
  ],
  ['the environment', 'src/interfaces/http/gate.ts', 'const port = process.env.PORT;', 'reads the environment'],
  ['the environment, taken apart', 'bench/directory.ts', 'const { env } = process["env"];', 'reads the environment'],
  ['the environment, imported', 'indexer/main.ts', "import { env } from 'node:process';", 'reads the environment'],
  ['a cast', QUERY, 'const id = row.id as string;', 'casts'],
  ['a wait among what has begun', QUERY, 'await Promise.all([read(), sum(await ids())]);', 'waits inside'],
  ['a cast beside a renaming', QUERY, "import { a as b } from './x.ts';\nconst id = b as unknown;", ':2 casts'],
  ['a cast inside a template', QUERY, `const id = \`a \${row as Row} b\`;`, 'casts'],
  ['an assertion', QUERY, 'const id = rows[0]!.id;', 'asserts'],
  ['an assertion at the end', QUERY, 'return found!;', 'asserts'],
  ['any as a parameter', QUERY, 'function read(row: any) {}', 'says `any`'],
  ['any as an argument of a type', QUERY, 'const rows: Map<string, any> = new Map();', 'says `any`'],
  ['any as a type', QUERY, 'type Row = any;', 'says `any`'],
  ['a folder for a layer', 'src/directory/helpers/dates.ts', '', 'folder helpers/'],
  ['a barrel', 'src/directory/index.ts', '', 'barrel'],
  ['a barrel under another name', 'src/directory/all.ts', "export * from './queries.ts';", 'exports all'],
  ['what is passed on', QUERY, "export { x } from './schema.ts';", 'passes on'],
  ['a word of our own', QUERY, 'export const mendFigures = 1;', 'says mendFigures; say reconcile'],
  ['a phrase in a comment', QUERY, '/** Those that somebody sent. */', 'says "somebody"; say who it is'],
  ['a phrase across lines', QUERY, '/**\n * What was asked\n * for.\n */', ':2 says "asked for"; say requested'],
  ['a phrase in a message', QUERY, "const said = 'This is no address.';", 'says "is no "; say is not a'],
  [
    'a phrase on a page',
    'web/src/pages/payouts.tsx',
    'export const x = <p>A page of its own</p>;',
    'says "of its own"',
  ],
  ['a phrase in a document', 'docs/money.md', 'It is paid to whoever\nasks.', 'docs/money.md:1 says "whoever"'],
  ['an adverb at the end', QUERY, '/** False if it was paid meanwhile. */', 'says "meanwhile"; say in the meantime'],
  ['a phrase in the indexer', 'indexer/status.ts', '// A write that came to its end.', 'says "came to its end"'],
  ['a lock by another name', QUERY, 'await holdOrder(db);', 'says holdOrder; say lock'],
  ['a long file', QUERY, 'export {};\n'.repeat(501), 'has 501 lines'],
];

const ALLOWED: [what: string, file: string, text: string][] = [
  ['a client in its room', 'src/kit/engines/postgres/open.ts', "import { Pool } from 'pg';"],
  ['statements in queries', QUERY, "import { sql } from 'kysely';"],
  ['an upstream noun', QUERY, "import { Brand } from '../brands/schema.ts';"],
  ['a noun without a place', 'src/resources/widgets/queries.ts', "import { x } from '../webhooks/queries.ts';"],
  ["the noun's own files", QUERY, "import { x } from './jobs.ts';"],
  ['another side of a measurement', 'bench/directory.ts', "import { Pool } from 'pg';"],
  ['renamings', QUERY, "import { a as b } from './a.ts';\nimport * as c from './c.ts';\nexport { b as d, c };"],
  ['constants and satisfies', QUERY, 'const x = [1] as const satisfies readonly number[];'],
  ['words in comments and strings', QUERY, `// any row as it is!\nconst x = 'as any'; const y = \`no! as \${'any'}\`;`],
  ['a regular expression', QUERY, 'const quoted = /["\'`] as any/.test(text);\nconst x = 4 / 2;'],
  ['negations', QUERY, 'if (!found || a !== b) return !(x);'],
  ['a function named any', 'src/directory/search/query.ts', 'const any = (x: X) => x;\nreturn [any(a), any(b)];'],
  [
    'what only sounds like a phrase',
    QUERY,
    '// There is no row, and there is none.\n// It is no longer sent, and stays as it is sent.',
  ],
  ['a phrase in a test', 'test/affiliates/payouts.test.ts', '// somebody'],
  ['the time that a commission waits', QUERY, 'const { holdDays, holdEndsAt } = holder;\nconst text = "told";'],
  ['the environment of the harness', 'test/harness/engines.ts', 'const { CI } = process.env;'],
];

describe('the house rule', () => {
  test('holds for the repository', async () => {
    const files = await repositoryFiles();
    expect(files.has('src/interfaces/http/app.ts')).toBe(true);
    expect(violations(files)).toEqual([]);
  });

  test.each(PLANTED)('finds %s', (_what, file, text, said) => {
    expect(judge(file, text)).toEqual([expect.stringContaining(said)]);
  });

  test('finds two folders of one floor that import each other', () => {
    const files = new Map([
      [
        'src/directory/search/get.ts',
        "import { x } from '../stores/money.ts';\nimport { y } from '../stores/click.ts';",
      ],
      ['src/affiliates/stores/formats/money.ts', "import { z } from '../directory/plan.ts';"],
    ]);
    expect(violations(files)).toEqual([
      'src/affiliates/stores/formats/money.ts:1 imports src/directory/search/plan.ts, and directory imports stores',
    ]);
  });

  test('finds a noun with an eighth file', () => {
    const names = ['noun', 'schema', 'routes', 'queries', 'actions', 'policy', 'jobs', 'mails'];
    const eight = names.map((name): [string, string] => [`src/workflow/campaigns/${name}.ts`, 'export {};']);
    expect(violations(new Map(eight))).toEqual(['src/workflow/campaigns:1 has 8 files; at most 7']);
    expect(violations(new Map(eight.slice(1)))).toEqual([]);
  });

  test.each(ALLOWED)('allows %s', (_what, file, text) => {
    expect(judge(file, text)).toEqual([]);
  });

  test('reads every file of the repository completely, without mistaking a quote or slash', async () => {
    for (const [file, text] of await repositoryFiles()) {
      if (!file.endsWith('.ts')) continue;
      const code = codeOf(text);
      const open = [...code].reduce((depth, c) => depth + (c === '{' ? 1 : c === '}' ? -1 : 0), 0);
      expect([file, code.length, open]).toEqual([file, text.length, 0]);
    }
  });
});

test('an exported function or value that no other file uses is found', () => {
  const files = new Map([
    ['src/a.ts', 'export const used = 1;\nexport function unused() {}\nexport interface Shape {}\n'],
    ['src/b.ts', "import { used } from './a.ts';\nconst unused = used;\nexport const { get: getX, list } = kit;\n"],
    ['test/c.test.ts', "import { getX } from '../src/b.ts';\n"],
  ]);
  expect(deadExports(files)).toEqual([
    'src/a.ts exports unused, which no other file uses',
    'src/b.ts exports list, which no other file uses',
  ]);
});
