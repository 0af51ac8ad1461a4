import { setTimeout as pause } from 'node:timers/promises';
import { exitOf, lastWords, startNode, stopNode } from '../../bench/children.ts';

/** What Docker waits before it starts a container again for the first time. */
const RESTART_AFTER_MS = 100;

export interface Supervised {
  /** `kill -9`; it is started again soon. */
  kill(): Promise<void>;
  /** How often it ended without being told to, with its last words. */
  falls: string[];
  stop(): Promise<void>;
}

/** A script of ours that is started again whenever it ends, as a supervisor does. */
export function supervise(script: string, env: Record<string, string>): Supervised {
  const falls: string[] = [];
  let isStopping = false;
  let expected = -1;
  let current = startNode([script], env);

  async function keepUp(): Promise<void> {
    for (;;) {
      const words = lastWords(current);
      const status = await exitOf(current);
      if (isStopping) return;
      if (current.pid !== expected) falls.push(`${script} ended by itself with ${status}:\n${words()}`);
      await pause(RESTART_AFTER_MS);
      if (isStopping) return;
      current = startNode([script], env);
    }
  }

  const kept = keepUp();
  return {
    falls,
    kill: async () => {
      const victim = current;
      expected = victim.pid ?? -1;
      victim.kill('SIGKILL');
      await exitOf(victim);
    },
    stop: async () => {
      isStopping = true;
      await stopNode(current);
      await kept;
    },
  };
}
