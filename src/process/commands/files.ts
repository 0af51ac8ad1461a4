import { readFileSync } from 'node:fs';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'There is no file',
  ENOTDIR: 'There is no file',
  EISDIR: 'A folder is no file:',
  EACCES: 'This user may not read',
  EPERM: 'This user may not read',
  ELOOP: 'Links lead in a circle at',
};

/** The text of a file that somebody named; what is wrong with it is said in words. */
export function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    throw new Error(`${REASONS[code] ?? `This cannot be read (${code}):`} ${file}.`, { cause: error });
  }
}
