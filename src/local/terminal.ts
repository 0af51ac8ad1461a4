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

/** A progress bar on a terminal; elsewhere a line every few seconds, and none for the last steps. */
export function openProgress(name: string): { update(done: number, phase: string): void; done(): void } {
  const from = performance.now();
  const seconds = () => `${((performance.now() - from) / 1000).toFixed(1)} s`;
  const format = `${name} {bar} {percentage}%, {phase}, {eta_formatted} left`;
  const bar = new SingleBar(
    { format, stream: out, hideCursor: true, barsize: 24, clearOnComplete: true },
    Presets.shades_classic,
  );
  let saidAt = from;
  if (out.isTTY) bar.start(100, 0, { phase: 'bulk' });
  return {
    update: (done, phase) => {
      if (out.isTTY) bar.update(Math.floor(done * 100), { phase });
      else if (done < 1 && performance.now() - saidAt > PLAIN_EVERY_MS) {
        saidAt = performance.now();
        out.write(`${name}: ${Math.floor(done * 100)}%\n`);
      }
    },
    done: () => {
      bar.stop();
      out.write(`${name} (${seconds()})\n`);
    },
  };
}

/** Printed as soon as anything is served. */
export function listening(url: string, linksUrl: string, isDemo: boolean): void {
  const links = `the links host on ${paint('cyan', linksUrl)}`;
  out.write(`${paint('bold', 'Rollcall')} listens on ${paint('cyan', url)}, ${links}\n`);
  if (isDemo) out.write('A link to sign in follows once everything is ready\n');
}

/** The link to sign in, alone, and how to get another. `hasWebApp` is undefined while it is being built. */
function signIn({ signInUrl, owner, mails }: DemoKeys, hasWebApp: true | undefined): void {
  const building = hasWebApp ? '' : ', which is still being built';
  const mailed = mails === undefined ? '' : ` (mails are written to ${mails})`;
  out.write(`\nSign in to the web app${building}. The link works once, within 15 minutes:\n\n`);
  out.write(`  ${paint('cyan', signInUrl)}\n\n`);
  out.write('For another link, run: npm run --silent cli -- sign-in --brand demo\n');
  out.write(`or enter ${owner} on the sign-in page${mailed}\n`);
}

/** The next steps, as commands that work when pasted. `hasWebApp` is undefined while it is being built. */
export function welcome(url: string, demo: DemoKeys | undefined, hasWebApp: boolean | undefined): void {
  if (demo && hasWebApp !== false) signIn(demo, hasWebApp);
  out.write(`\nAPI reference: ${paint('cyan', `${url}/docs`)}\n`);
  if (!demo) return;
  out.write(`Keys of the brand demo: ${demo.file}\nTry a search:\n`);
  out.write(`  curl -H 'Authorization: Bearer ${demo.dataKey}' '${url}/v1/creators/search?city=NYC&limit=3'\n`);
  out.write('\nCtrl-C stops everything.\n');
}
