import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const WITHIN_MS = 60_000;
const SERIOUS: ReadonlySet<string> = new Set(['high', 'critical']);

const Audit = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      severity: z.string(),
      range: z.string(),
      via: z.array(z.union([z.string(), z.object({ title: z.string() })])),
    }),
  ),
});

/** `npm audit` exits with 1 when it finds something, and still writes its report. */
async function audit(folder: string): Promise<z.infer<typeof Audit> | undefined> {
  const args = ['audit', '--json', '--package-lock-only'];
  const stdout = await run('npm', args, { cwd: folder, timeout: WITHIN_MS, maxBuffer: 64 * 1024 * 1024 }).then(
    (done) => done.stdout,
    (error: unknown) => (typeof error === 'object' && error !== null && 'stdout' in error ? String(error.stdout) : ''),
  );
  try {
    return Audit.safeParse(JSON.parse(stdout)).data;
  } catch {
    return undefined;
  }
}

/**
 * Compares the lock files with the registry's list of known vulnerabilities, if it is asked to: the list needs a network.
 * `say` gets why it was not compared.
 */
export async function findVulnerabilities(isAsked: boolean, say: (line: string) => void): Promise<string[]> {
  if (!isAsked) {
    say('off: --vulnerabilities reads the list of the registry');
    return [];
  }
  const found: string[] = [];
  for (const folder of ['.', 'web', 'clients/typescript']) {
    const report = await audit(folder);
    if (!report) say(`${folder}: off, because the list could not be fetched`);
    for (const [name, { severity, range, via }] of Object.entries(report?.vulnerabilities ?? {})) {
      const reasons = via.map((one) => (typeof one === 'string' ? `by ${one}` : one.title)).join('; ');
      if (SERIOUS.has(severity)) found.push(`${folder}: ${[name, range].join(' ').trim()} is ${severity}: ${reasons}`);
    }
  }
  return found;
}
