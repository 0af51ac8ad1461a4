import { report } from './terminal.ts';

export interface Shutdown {
  /** What ends something that was started; the newest is ended first. */
  add(end: () => Promise<unknown>): void;
  /** Ends everything. What cannot be ended is told, and does not keep the rest from it. */
  end(): Promise<void>;
  /** Ends everything on Ctrl-C and SIGTERM. */
  onSignals(): void;
}

/** Says why something failed; the process then exits with 1. */
export function tell(error: unknown): void {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** A process whose ends take longer than `withinMs` exits with 1. */
export function openShutdown(withinMs: number): Shutdown {
  const ends: (() => Promise<unknown>)[] = [];
  async function end(): Promise<void> {
    setTimeout(() => process.exit(1), withinMs).unref();
    for (const one of ends.splice(0).reverse()) await one().catch(tell);
  }
  return {
    add: (one) => void ends.push(one),
    end,
    onSignals: () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());
    },
  };
}
