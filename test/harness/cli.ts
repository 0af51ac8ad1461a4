import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { engineUrls, SECRET } from './app.ts';
import { CHILD_ENV } from './child.ts';

/** `npm run cli -- …` on the test's engines, with `input` on its stdin: what it answered. */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = '') {
  const { postgres, redis } = engineUrls();
  const child = spawn(process.execPath, ['src/cli.ts', ...args], {
    env: {
      ...CHILD_ENV,
      ROLLCALL_SECRET: SECRET,
      OUTBOUND_ALLOW: '127.0.0.1',
      DATABASE_URL: postgres,
      REDIS_URL: redis,
      ...env,
    },
  });
  child.stdin.end(input);
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: child.exitCode, out, said };
}
