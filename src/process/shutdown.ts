import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { endLastLine } from '../local/last-line.ts';
import { report } from '../local/terminal.ts';
import { readMore } from './read-more.ts';

/** The exit codes that a shell shows for a command that such a signal ended. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

export interface Shutdown {
  /** Registers how to end something that was started; the newest is ended first. */
  add(end: () => Promise<unknown>): void;
  /**
   * Registers the end of something that has a deadline of its own and is waited for in any case: embedded engines must not
   * write after this process has ended, or a copy of their folder that is made then is torn.
   */
  addBounded(end: () => Promise<unknown>): void;
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
function reportFailure(error: unknown): void {
  report(explainFailure(error));
  process.exitCode = 1;
}

/** The same of a start, with the page of the manual that has the settings. */
export function reportRefusedStart(error: unknown): void {
  report(`${explainFailure(error)}\n${readMore('operating')}`);
  process.exitCode = 1;
}

/** Ends everything on Ctrl-C and SIGTERM too. What takes longer than `withinMs` is cut off, and the process exits with 1. */
export function openShutdown(withinMs: number): Shutdown {
  const ends: { end: () => Promise<unknown>; isBounded: boolean }[] = [];
  let ending: Promise<void> | undefined;
  let isStarted = false;

  async function endAll(): Promise<void> {
    const late = pause(withinMs, true, { ref: false });
    let isCut = false;
    for (const { end, isBounded } of ends.splice(0).reverse()) {
      const ending = end().then(() => false, reportFailure);
      if (isBounded) await ending;
      else if ((await Promise.race([ending, late])) === true) isCut = true;
    }
    if (!isCut) return;
    report(`Not everything ended within ${withinMs / 1_000} s; the rest was cut off.`);
    process.exit(1);
  }
  function end(): Promise<void> {
    ending ??= endAll();
    return ending;
  }
  async function stop(status: number): Promise<void> {
    const isFirst = ending === undefined;
    endLastLine();
    await end();
    if (isFirst) report('Stopped.');
    // Engines that are still starting need no cleanup: embedded engines end with this process.
    if (!isStarted) process.exit(status);
  }
  // npm forwards the Ctrl-C that the terminal has already sent us; the second one must not interrupt the shutdown.
  for (const [signal, status] of Object.entries(SIGNALS)) process.on(signal, () => void stop(status));

  return {
    add: (end) => void ends.push({ end, isBounded: false }),
    addBounded: (end) => void ends.push({ end, isBounded: true }),
    end,
    isEnding: () => ending !== undefined,
    started: () => {
      isStarted = ending === undefined;
    },
  };
}
