import { styleText } from 'node:util';
import { Presets, SingleBar } from 'cli-progress';
import type { DemoKeys } from './demo.ts';

const PLAIN_EVERY_MS = 3_000;

const out = process.stderr;
const paint = (format: Parameters<typeof styleText>[0], text: string) => (out.isTTY ? styleText(format, text) : text);

export const report = (line: string) => void out.write(`${line}\n`);

/** Runs one step of the start, and prints its name and duration. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await work();
  out.write(`${name} (${((performance.now() - from) / 1000).toFixed(1)} s)\n`);
  return result;
}

/** A progress bar on a terminal; elsewhere a line every few seconds. */
export function openProgress(name: string): { update(done: number, phase: string): void; done(): void } {
  const from = performance.now();
  const seconds = () => `${((performance.now() - from) / 1000).toFixed(1)} s`;
  const format = `${name} {bar} {percentage}%, {phase}, {eta_formatted} left`;
  const bar = new SingleBar(
    { format, stream: out, hideCursor: true, barsize: 24, clearOnComplete: true },
    Presets.shades_classic,
  );
  let saidAt = from;
  let said = '';
  if (out.isTTY) bar.start(100, 0, { phase: 'bulk' });
  return {
    update: (done, phase) => {
      if (out.isTTY) bar.update(Math.floor(done * 100), { phase });
      else if (performance.now() - saidAt > PLAIN_EVERY_MS) {
        const line = `${name}: ${Math.floor(done * 100)}%, ${phase}`;
        if (line === said) return;
        said = line;
        saidAt = performance.now();
        out.write(`${line}\n`);
      }
    },
    done: () => {
      bar.stop();
      out.write(`${name} (${seconds()})\n`);
    },
  };
}

/** Printed as soon as anything is served. */
export const listening = (url: string, linksUrl: string): void =>
  void out.write(
    `${paint('bold', 'Rollcall')} listens on ${paint('cyan', url)}, the links host on ${paint('cyan', linksUrl)}\n`,
  );

/** The next steps, as commands that work when pasted. `hasWebApp` is undefined while it is being built. */
export function welcome(url: string, demo: DemoKeys | undefined, hasWebApp: boolean | undefined): void {
  out.write(`\nDocs: ${paint('cyan', `${url}/docs`)}\n`);
  if (!demo) return;
  if (hasWebApp !== false) {
    const building = hasWebApp ? '' : 'being built; ';
    out.write(`Web app (${building}this link signs in once, within 15 minutes): ${paint('cyan', demo.signInUrl)}\n`);
  }
  out.write(`Keys of the brand demo: ${demo.file}\n\nTry:\n`);
  out.write(
    `  curl -H 'Authorization: Bearer ${demo.dataKey}' '${url}/v1/creators/search?city=NYC&limit=3'\n\nCtrl-C stops everything.\n`,
  );
}
