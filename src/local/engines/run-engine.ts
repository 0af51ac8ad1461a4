import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, EngineName, Seat } from './engine.ts';
import { makeEngineFolder } from './folder.ts';
import { giveWay, lastLines, launch, type RunningProcess, stopProcess, waitUntilReady } from './process.ts';
import type { LockedStack } from './stack.ts';

const STOP_WITHIN_MS = 10_000;
const RETRY_HELD_DATA_MS = 20_000;

export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** One engine of a running stack. */
export interface Running {
  engine: Engine;
  seat: Seat;
  process: RunningProcess;
  startMs: number;
  /** Set before we end it, so that its end is not reported as a failure. */
  isExpectedToEnd: boolean;
}

export interface Launchpad {
  /** The stack's data folder. */
  folder: string;
  stack: LockedStack;
  /** Aborts when the stack is stopped. */
  ending: AbortSignal;
  /** Processes that are not ready yet. */
  launching: Set<RunningProcess>;
  /** Multiplies the usual time of every start. */
  patience: number;
  report: (line: string) => void;
  /** Called when an engine ends by itself. */
  ended?: (name: EngineName, running: Running) => void;
}

function failedToStart(engine: Engine, process: RunningProcess): Error {
  const how = process.ended() ? `ended while starting (${process.ended()})` : 'did not become ready in time';
  return new Error(
    [
      `${engine.title} ${how}. To use your own, set ${engine.variable}.`,
      `Its log, ${process.log}, ends with:`,
      lastLines(process.log),
    ].join('\n'),
  );
}

/** Launches the engine until it is ready; retries while processes of the last run still hold the data. */
async function launchUntilReady(
  name: EngineName,
  engine: Engine,
  seat: Seat,
  { folder, stack, ending, launching }: Launchpad,
  withinMs: number,
): Promise<RunningProcess> {
  const deadline = performance.now() + RETRY_HELD_DATA_MS;
  for (;;) {
    ending.throwIfAborted();
    const process = launch(engine.program(seat), path.join(folder, 'log', `${name}.log`));
    try {
      if (process.pid) stack.record(name, process.pid);
    } catch (error) {
      // For example, the disk is full. An untracked process would keep the data locked at the next start.
      await stopProcess(process, 'SIGKILL', 0);
      throw error;
    }
    launching.add(process);
    const readiness = await waitUntilReady(process, () => engine.isReady(seat.port), withinMs);
    launching.delete(process);
    if (readiness === 'ready') return process;
    const isLocked = readiness === 'ended' && engine.dataStillLocked.test(lastLines(process.log, 100));
    if (!isLocked || performance.now() > deadline) {
      // Before it is killed, so that a late engine is not said to have ended by itself.
      const failure = failedToStart(engine, process);
      await stopProcess(process, 'SIGKILL', 0);
      throw failure;
    }
    await pause(200);
  }
}

/**
 * Starts the engine and reports it; if it ends by itself later, that is reported too. `patience` multiplies its usual
 * time.
 */
export async function startEngine(
  name: EngineName,
  engine: Engine,
  seat: Seat,
  pad: Launchpad,
  patience: number,
): Promise<Running> {
  const start = performance.now();
  makeEngineFolder(seat.data, 0o700);
  await engine.prepare(seat);
  const process = await launchUntilReady(name, engine, seat, pad, engine.readyWithinMs * pad.patience * patience);
  if (engine.givesWay) giveWay(process.pid);
  const running: Running = { engine, seat, process, startMs: performance.now() - start, isExpectedToEnd: false };
  pad.report(`${engine.title} started (${secondsSince(start)})`);
  void process.whenEnded.then((how) => {
    if (running.isExpectedToEnd) return;
    pad.report(`${engine.title} ended by itself (${how}); its log: ${process.log}`);
    pad.ended?.(name, running);
  });
  return running;
}

export async function stopEngine(running: Running | undefined): Promise<void> {
  if (!running) return;
  running.isExpectedToEnd = true;
  await stopProcess(running.process, running.engine.stopSignal, STOP_WITHIN_MS);
}
