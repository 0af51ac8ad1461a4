import { writeAbove } from '../../local/last-line.ts';
import { around } from './around.ts';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** `npm run` hands a Ctrl-C on to its child, which has received it already. */
const SAME_PRESS_MS = 500;

let lastSignal: { exitCode: number; at: number } | undefined;

/** Returns the signal by which this process was told to stop, if any. */
export function stopSignal(): { exitCode: number } | undefined {
  return lastSignal;
}

/** Aborted by Ctrl-C or SIGTERM, so that the work ends cleanly; a second signal ends it at once. */
export function onStop(): AbortSignal {
  const { signal } = around();
  if (signal) return signal;
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      const now = performance.now();
      if (lastSignal && now - lastSignal.at < SAME_PRESS_MS) return;
      if (lastSignal) process.exit(lastSignal.exitCode);
      lastSignal = { exitCode: EXIT_CODES[name], at: now };
      writeAbove(process.stderr, 'Stopping after the requests in flight; press again to stop at once.\n');
      controller.abort();
    });
  }
  return controller.signal;
}
