import { z } from 'zod';
import { report } from '../local/terminal.ts';

/** The exit codes that a shell shows for a command that such a signal ended. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

export interface Shutdown {
  /** Registers how to end something that was started; the newest is ended first. */
  add(end: () => Promise<unknown>): void;
  /** Ends everything, once. A failure is reported and does not keep the rest from ending. */
  end(): Promise<void>;
  isEnding(): boolean;
  /** Call it when the start is complete. A process that is stopped before that has failed. */
  started(): void;
}

const Unwritable = z.object({
  code: z.enum(['EACCES', 'EPERM', 'EROFS']),
  syscall: z.enum(['mkdir', 'mkdtemp', 'open', 'rename', 'link', 'unlink', 'rm', 'rmdir', 'chmod', 'chown', 'lchown']),
  path: z.string(),
});

/** A sentence on why something failed. Node's own words for a folder that is read-only name no way out. */
export function explainFailure(error: unknown): string {
  const unwritable = Unwritable.safeParse(error).data;
  if (!unwritable) return error instanceof Error ? error.message : String(error);
  const why = unwritable.code === 'EROFS' ? 'its file system is read-only' : 'this user may not';
  return `Rollcall cannot write to ${unwritable.path}: ${why}. Set ROLLCALL_DIR to a folder where it may.`;
}

/** Reports why something failed; the process then exits with 1. */
export function reportFailure(error: unknown): void {
  report(explainFailure(error));
  process.exitCode = 1;
}

/** Ends everything on Ctrl-C and SIGTERM too. If that takes longer than `withinMs`, the process exits with 1. */
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
    const isFirst = ending === undefined;
    await end();
    if (isFirst) report('Stopped.');
    // Engines that are still starting need no cleanup: embedded engines end with this process.
    if (!isStarted) process.exit(status);
  }
  // npm forwards the Ctrl-C that the terminal has already sent us; the second one must not interrupt the shutdown.
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
