import { report } from '../local/terminal.ts';

/** What a shell says of a command that such a signal ended. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

export interface Shutdown {
  /** What ends something that was started; the newest is ended first. */
  add(end: () => Promise<unknown>): void;
  /** Ends everything, once. What cannot be ended is reported, and does not keep the rest from it. */
  end(): Promise<void>;
  isEnding(): boolean;
  /** From here on there is nothing more to start. Until then a process that is stopped has failed. */
  started(): void;
}

/** Says why something failed; the process then exits with 1. */
export function reportFailure(error: unknown): void {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** Ends everything also on Ctrl-C and SIGTERM. A process whose ends take longer than `withinMs` exits with 1. */
export function openShutdown(withinMs: number): Shutdown {
  const ends: (() => Promise<unknown>)[] = [];
  let ending: Promise<void> | undefined;
  let isStarted = false;

  async function endAll(): Promise<void> {
    setTimeout(() => process.exit(1), withinMs).unref();
    for (const end of ends.splice(0).reverse()) await end().catch(reportFailure);
  }
  function end(): Promise<void> {
    ending ??= endAll();
    return ending;
  }
  async function stop(status: number): Promise<void> {
    await end();
    // Engines that are still starting need no clean-up: embedded engines end with this process.
    if (!isStarted) process.exit(status);
  }
  // npm hands on the Ctrl-C that the terminal has sent us already: the second one must not end us in the middle.
  for (const [signal, status] of Object.entries(SIGNALS)) process.on(signal, () => void stop(status));

  return {
    add: (one) => void ends.push(one),
    end,
    isEnding: () => ending !== undefined,
    started: () => {
      isStarted = ending === undefined;
    },
  };
}
