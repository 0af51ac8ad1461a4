import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { newWebhookSecret } from '../../platform/webhooks/signing.ts';

const State = z.object({
  secret: z.string(),
  /** The running `listen`: its process and where it forwards to. */
  pid: z.number().optional(),
  forward_to: z.string().optional(),
});
type State = z.infer<typeof State>;

const toFile = (directory: string) => path.join(directory, 'listen.json');

function read(directory: string): State | undefined {
  const file = toFile(directory);
  return existsSync(file) ? State.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** Written completely before it gets its name, and readable by its owner only. */
function write(directory: string, state: State): void {
  mkdirSync(directory, { recursive: true });
  const draft = `${toFile(directory)}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(state), { mode: 0o600 });
  renameSync(draft, toFile(directory));
}

/** The secret that `listen` signs with: created once, the same after every restart. */
export function listenSecret(directory: string): string {
  const storedState = read(directory);
  if (storedState) return storedState.secret;
  const secret = newWebhookSecret();
  write(directory, { secret });
  return secret;
}

/** Records that this process forwards to `target`, or, if undefined, no longer does. */
export function noteListening(directory: string, target: string | undefined): void {
  const secret = listenSecret(directory);
  write(directory, target === undefined ? { secret } : { secret, pid: process.pid, forward_to: target });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Finds the target of a running `listen`, and its secret. */
export function findListening(directory: string): { secret: string; target: string } | undefined {
  const state = read(directory);
  if (state?.pid === undefined || state.forward_to === undefined || !isAlive(state.pid)) return undefined;
  return { secret: state.secret, target: state.forward_to };
}
