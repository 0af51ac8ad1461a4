import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ignoreFailure } from '../../src/kit/values/errors.ts';

/** Every text file of the repository, whether committed yet or not, under its path; ignored files are left out. */
export async function repositoryFiles(): Promise<Map<string, string>> {
  // Reading a folder of another user, as a container may mount it, is no danger here.
  const listing = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', listing, { maxBuffer: 16 * 1024 * 1024 });
  const names = stdout.split('\0').filter(Boolean);
  const texts = await Promise.all(
    names.map((name) => readFile(name, 'utf8').catch(ignoreFailure('deleted, but not committed yet'))),
  );
  const files = new Map<string, string>();
  for (const [i, name] of names.entries()) {
    const text = texts[i];
    if (text !== undefined && !text.includes('\0')) files.set(name, text);
  }
  return files;
}
