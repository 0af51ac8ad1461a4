import type { EngineName } from './engine.ts';
import { lastLines } from './process.ts';
import type { Running } from './run-engine.ts';

const WITHIN_MS = 60_000;
const MAX_ENDS = 3;

/** Starts engines again that ended by themselves. One that ends three times within a minute stays down. */
export function openReviver(
  start: (name: EngineName, running: Running) => Promise<void>,
  report: (line: string) => void,
): (name: EngineName, running: Running) => void {
  const ends = new Map<EngineName, number[]>();
  return (name, running) => {
    const { title } = running.engine;
    const now = performance.now();
    const recent = [...(ends.get(name) ?? []), now].filter((at) => now - at < WITHIN_MS);
    ends.set(name, recent);
    if (recent.length >= MAX_ENDS) {
      const log = lastLines(running.process.log);
      report(`${title} ended ${MAX_ENDS} times within a minute and stays down. Its log ends with:\n${log}`);
      return;
    }
    report(`${title} is started again ...`);
    start(name, running).catch((error: unknown) => report(error instanceof Error ? error.message : String(error)));
  };
}
