import { readFileSync } from 'node:fs';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'There is no file',
  ENOTDIR: 'There is no file',
  EISDIR: 'This is a folder, not a file:',
  EACCES: 'This user may not read',
  EPERM: 'This user may not read',
  ELOOP: 'Links form a loop at',
};

/** Reads a file that the user named. Errors are reported in plain words. */
export function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    throw new Error(`${REASONS[code] ?? `This cannot be read (${code}):`} ${file}.`, { cause: error });
  }
}
