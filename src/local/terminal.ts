import { styleText } from 'node:util';
import { openBar } from './bar.ts';
import type { DemoKeys } from './demo.ts';
import { writeAbove } from './last-line.ts';

const PLAIN_EVERY_MS = 3_000;

const out = process.stderr;
const paint = (format: Parameters<typeof styleText>[0], text: string) => (out.isTTY ? styleText(format, text) : text);

const write = (text: string) => writeAbove(out, text);

export const report = (line: string) => write(`${line}\n`);

/** Runs one step of the start, and prints its name and duration. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await work();
  write(`${name} (${((performance.now() - from) / 1000).toFixed(1)} s)\n`);
  return result;
}

/** A progress bar on a terminal; elsewhere a line every few seconds, and none for the last steps. */
export function openProgress(name: string): { update(done: number, phase: string): void; done(): void } {
  const from = performance.now();
  const seconds = () => `${((performance.now() - from) / 1000).toFixed(1)} s`;
  const format = `${name} {bar} {percentage}%, {phase}, {eta_formatted} left`;
  const bar = out.isTTY ? openBar(out, format, { phase: 'bulk' }) : undefined;
  let saidAt = from;
  return {
    update: (done, phase) => {
      if (bar) bar.update(done, { phase });
      else if (done < 1 && performance.now() - saidAt > PLAIN_EVERY_MS) {
        saidAt = performance.now();
        write(`${name}: ${Math.floor(done * 100)}%\n`);
      }
    },
    done: () => {
      bar?.end();
      write(`${name} (${seconds()})\n`);
    },
  };
}

/** Printed as soon as anything is served. */
export function listening(url: string, linksUrl: string, isDemo: boolean): void {
  const links = `the links host on ${paint('cyan', linksUrl)}`;
  write(`${paint('bold', 'Rollcall')} listens on ${paint('cyan', url)}, ${links}\n`);
  if (isDemo) write('A link to sign in follows once everything is ready\n');
}

/** The link to sign in, alone, and how to get another. `hasWebApp` is undefined while it is being built. */
function signIn({ signInUrl, owner, mails }: DemoKeys, hasWebApp: true | undefined): void {
  const building = hasWebApp ? '' : ', which is still being built';
  const mailHint = mails === undefined ? '' : ` (emails are written to ${mails})`;
  write(`\nSign in to the web app${building}. The link works once, within 15 minutes:\n\n`);
  write(`  ${paint('cyan', signInUrl)}\n\n`);
  write('For another link, run: npm run --silent cli -- sign-in --brand demo\n');
  write(`or enter ${owner} on the sign-in page${mailHint}\n`);
}

/** The next steps, as commands that work when pasted. `hasWebApp` is undefined while it is being built. */
export function welcome(url: string, demo: DemoKeys | undefined, hasWebApp: boolean | undefined): void {
  if (demo && hasWebApp !== false) signIn(demo, hasWebApp);
  write(`\nAPI reference: ${paint('cyan', `${url}/docs`)}\n`);
  if (!demo) return;
  write(`Keys of the demo brand: ${demo.file}\nTry a search:\n`);
  write(`  curl -H 'Authorization: Bearer ${demo.dataKey}' '${url}/v1/creators/search?city=NYC&limit=3'\n`);
  write('\nCtrl-C stops everything.\n');
}
