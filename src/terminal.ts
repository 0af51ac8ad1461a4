import { styleText } from 'node:util';
import type { DemoKeys } from './demo.ts';

const out = process.stderr;
const paint = (format: Parameters<typeof styleText>[0], text: string) => (out.isTTY ? styleText(format, text) : text);

/** Does one step of the start and says what it was and how long it took. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await work();
  out.write(`${name} (${((performance.now() - from) / 1000).toFixed(1)} s)\n`);
  return result;
}

/** What to do next, as commands that work when pasted. */
export function welcome(url: string, demo: DemoKeys | undefined): void {
  out.write(`\n${paint('bold', 'Rollcall')} listens on ${paint('cyan', url)}\nDocs: ${paint('cyan', `${url}/docs`)}\n`);
  if (!demo) return;
  out.write(`Keys of the brand demo: ${demo.file}\n\nTry:\n`);
  out.write(
    `  curl -H 'Authorization: Bearer ${demo.dataKey}' '${url}/v1/creators/search?city=NYC&limit=3'\n\nCtrl-C stops everything.\n`,
  );
}
