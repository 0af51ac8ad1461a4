import { describe, expect, test } from 'vitest';
import { checkCode } from '../check/code.ts';
import { deadExports } from '../check/exports.ts';
import { repositoryFiles } from '../check/files.ts';
import { checkHouse } from '../check/house.ts';
import { countForms } from '../check/ratios.ts';
import { codeOf, readSources } from '../check/source.ts';

function judge(file: string, text: string): string[] {
  const sources = readSources(new Map([[file, text]]));
  return [...checkHouse(sources), ...checkCode(sources)];
}

const FILE = 'src/workflow/campaigns/campaigns.ts';

const PLANTED: [title: string, file: string, text: string, message: string][] = [
  ['a client outside its folder', FILE, "import { Pool } from 'pg';", 'imports pg'],
  ['a part of a client', FILE, "import { utils } from 'ioredis/built/utils';", 'imports ioredis'],
  ['a client that is imported when needed', 'src/worker.ts', "const { Worker } = await import('bullmq');", 'bullmq'],
  ['a client of the indexer', 'indexer/status.ts', "import 'undici';", 'imports undici'],
  ['a type of a client', FILE, "import type { Pool } from 'pg';", 'imports pg'],
  [
    'an engine that knows the product',
    'src/kit/engines/elastic/open.ts',
    "import '../../../directory/a.ts';",
    'above it',
  ],
  ['a part that knows one to the right', FILE, "import '../../affiliates/links/links.ts';", 'above it'],
  ['a part that knows an interface', FILE, "import '../../interfaces/http/gate.ts';", 'above it'],
  ['an interface that knows another', 'src/interfaces/mcp/a.ts', "import '../legacy/b.ts';", 'do not know each other'],
  [
    'the shared interface that knows one',
    'src/interfaces/http/a.ts',
    "import '../mcp/b.ts';",
    'do not know each other',
  ],
  ['an interface that knows a process', 'src/interfaces/http/a.ts', "import '../../process/apps.ts';", 'above it'],
  ['a folder that is no part', 'src/billing/rates.ts', '', 'in no part of the product'],
  ['production that needs a test', 'src/local/demo.ts', "import '../../test/harness/app.ts';", 'not for production'],
  ['an indexer that needs a bench', 'indexer/main.ts', "import '../bench/sides.ts';", 'not for production'],
  ['the web app that needs the server', 'web/src/a.ts', "import '../../src/kit/values/money.ts';", 'for the browser'],
  ['a file named for a layer', 'src/workflow/campaigns/queries.ts', '', 'named for a layer'],
  ['a long file', FILE, 'export {};\n'.repeat(501), 'has 501 lines'],
  ['a read of the environment', 'src/interfaces/http/gate.ts', 'const port = process.env.PORT;', 'the environment'],
  ['the environment, taken apart', 'bench/directory.ts', 'const { env } = process["env"];', 'the environment'],
  ['the environment, imported', 'indexer/main.ts', "import { env } from 'node:process';", 'the environment'],
  ['a cast', FILE, 'const id = row.id as string;', 'casts'],
  ['a cast beside a renaming', FILE, "import { a as b } from './x.ts';\nconst id = b as unknown;", ':2 casts'],
  ['a cast inside a template', FILE, `const id = \`a \${row as Row} b\`;`, 'casts'],
  ['a wait among calls that have begun', FILE, 'await Promise.all([read(), sum(await ids())]);', 'waits inside'],
];

const ALLOWED: [title: string, file: string, text: string][] = [
  ['a client in its folder', 'src/kit/engines/postgres/open.ts', "import { Pool } from 'pg';"],
  ['a part to the left', FILE, "import { Brand } from '../../platform/brands/brands.ts';"],
  ['a noun of the same part', FILE, "import { x } from '../briefs/briefs.ts';"],
  ['the declarations in the web app', 'web/src/a.ts', "import type { CallOf } from '../../src/interfaces/nouns.ts';"],
  ['a client in a bench', 'bench/directory.ts', "import { Pool } from 'pg';"],
  ['renamings', FILE, "import { a as b } from './a.ts';\nimport * as c from './c.ts';\nexport { b as d, c };"],
  ['constants and satisfies', FILE, 'const x = [1] as const satisfies readonly number[];'],
  ['words in comments and strings', FILE, `// as it is\nconst x = 'as any'; const y = \`no as \${'any'}\`;`],
  ['a regular expression', FILE, 'const quoted = /["\'`] as any/.test(text);\nconst x = 4 / 2;'],
  ['the environment of the harness', 'test/harness/engines.ts', 'const { CI } = process.env;'],
];

describe('the house rule', () => {
  test('holds for the repository', async () => {
    const sources = readSources(await repositoryFiles());
    expect(sources.some(({ path }) => path === 'src/interfaces/http/app.ts')).toBe(true);
    expect([...checkHouse(sources), ...checkCode(sources)]).toEqual([]);
  });

  test.each(PLANTED)('finds %s', (_title, file, text, message) => {
    expect(judge(file, text)).toEqual([expect.stringContaining(message)]);
  });

  test.each(ALLOWED)('allows %s', (_title, file, text) => {
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

test('names that end in Of, relative comments and packed spreads are counted', () => {
  const text = 'const rowOf = (x: X) => x;\nfunction read() {}\n// What is read.\n/** A row. */\nf({ ...{ a, b } });\n';
  expect(countForms([text])).toMatchObject({ functions: 2, endInOf: 1, comments: 2, relative: 1, packed: 1 });
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
