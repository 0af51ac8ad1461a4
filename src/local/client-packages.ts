import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { ClientBuilder } from '../interfaces/http/packages.ts';
import { runCommand } from './engines/command.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BUILD = path.join(ROOT, 'clients/build.ts');
/** The document and the release that every package is made from. */
const SOURCES = ['test/check/openapi.json', 'package.json'].map((name) => path.join(ROOT, name));

/** Builds clients' packages into `folder`, behind other processes. Undefined in the image, which lacks the generators. */
export const clientBuilder = (folder: string): ClientBuilder | undefined =>
  existsSync(BUILD)
    ? {
        build: (client) => runCommand('nice', [process.execPath, BUILD, folder, client], { cwd: ROOT }),
        changedAt: async () => {
          const stats = await Promise.all(SOURCES.map((file) => stat(file)));
          return Math.max(...stats.map(({ mtimeMs }) => mtimeMs));
        },
      }
    : undefined;
