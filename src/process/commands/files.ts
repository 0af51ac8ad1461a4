import { constants, readFileSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { ignoreFailure } from '../../kit/values/errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'There is no file',
  ENOTDIR: 'There is no file',
  EISDIR: 'This is a folder, not a file:',
  EACCES: 'This user may not use',
  EPERM: 'This user may not use',
  EROFS: 'This is on a file system that is read-only:',
  ENOSPC: 'The disk is full; this cannot be written:',
  ELOOP: 'Links form a loop at',
};

const Failure = z.object({ code: z.string().regex(/^E[A-Z]+$/), syscall: z.string(), path: z.string() });

/** Why a file cannot be used, in plain words; undefined for any other error. */
export function explainFile(error: unknown): string | undefined {
  const failure = Failure.safeParse(error).data;
  const reason = failure && REASONS[failure.code];
  return reason === undefined ? undefined : `${reason} ${failure?.path}.`;
}

/** Reads a file that the user named. Errors are reported in plain words. */
export function readNamedFile(file: string): Buffer<ArrayBuffer> {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    throw new Error(`${REASONS[code] ?? `This cannot be read (${code}):`} ${file}.`, { cause: error });
  }
}

export const readTextFile = (file: string): string => readNamedFile(file).toString('utf8');

/** Throws unless the user may write a file of this name. It runs before the work whose result goes there. */
export async function assertWritable(file: string): Promise<void> {
  const folder = path.dirname(path.resolve(file));
  const [folderStats, own] = await Promise.all(
    [folder, file].map((place) => stat(place).catch(ignoreFailure('there is nothing of this name'))),
  );
  if (!folderStats?.isDirectory()) throw new Error(`There is no folder ${folder}, so ${file} cannot be written.`);
  if (own?.isDirectory()) throw new Error(`${file} is a folder; name a file in it.`);
  const isAllowed = await access(own ? file : folder, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isAllowed) throw new Error(`This user may not write ${file}.`);
}
