import { writeAbove } from '../../local/last-line.ts';
import { around } from './around.ts';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

let received: { exitCode: number } | undefined;

/** Returns the signal by which this process was told to stop, if any. */
export function stopSignal(): { exitCode: number } | undefined {
  return received;
}

/** Aborted by Ctrl-C or SIGTERM, so that the work ends cleanly; a second signal ends it at once. */
export function onStop(): AbortSignal {
  const { signal } = around();
  if (signal) return signal;
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (received) process.exit(received.exitCode);
      received = { exitCode: EXIT_CODES[name] };
      writeAbove(process.stderr, 'Stopping after the requests in flight; press again to stop at once.\n');
      controller.abort();
    });
  }
  return controller.signal;
}
