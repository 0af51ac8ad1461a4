import { existsSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './engines/command.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BUILD = path.join(ROOT, 'clients/build.ts');

/** Builds one client's package into `folder`, behind other processes. Undefined in the image, which lacks the generators. */
export const clientBuilder = (folder: string) =>
  existsSync(BUILD)
    ? (client: string) => runCommand('nice', [process.execPath, BUILD, folder, client], { cwd: ROOT })
    : undefined;
