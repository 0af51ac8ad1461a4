import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const REQUIREMENTS = 'test/fuzz/requirements.txt';

const run = promisify(execFile);

/** Schemathesis in a Python environment of its own below `directory`: installed once, again when its versions change. */
export async function installSchemathesis(directory: string, report: (line: string) => void): Promise<string> {
  const home = path.join(directory, 'fuzz-venv');
  const program = path.join(home, 'bin', 'schemathesis');
  const stamp = path.join(home, 'installed.txt');
  const wanted = await readFile(REQUIREMENTS, 'utf8');
  if (existsSync(program) && existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return program;

  report('Fetching Schemathesis ...');
  await rm(home, { recursive: true, force: true });
  // Without its own pip: Debian's Python brings none for new environments.
  await run('python3', ['-m', 'venv', '--without-pip', home]);
  const python = path.join(home, 'bin', 'python');
  await run('python3', ['-m', 'pip', '--python', python, 'install', '--quiet', '--no-deps', '-r', REQUIREMENTS]);
  await writeFile(stamp, wanted);
  return program;
}
