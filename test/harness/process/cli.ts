import { runCli as run } from '../../../src/process/commands/cli.ts';
import { engineUrls, SECRET } from '../app.ts';
import { runHere } from './command.ts';

/** `npm run cli -- …` on the test's engines, with `input` on its stdin: what it answered. */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = '') {
  const { postgres, redis } = engineUrls();
  const own = { ROLLCALL_SECRET: SECRET, OUTBOUND_ALLOW: '127.0.0.1', DATABASE_URL: postgres, REDIS_URL: redis };
  return await runHere(() => run(args), { ...own, ...env }, input);
}
