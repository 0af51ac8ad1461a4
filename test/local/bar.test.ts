import { Writable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { type Bar, openBar } from '../../src/local/bar.ts';
import { writeAbove } from '../../src/local/last-line.ts';

const TOKENS = new RegExp(`${'\u001b'}(\\[[?\\d;]*[A-Za-z]|[78])|.`, 'gsu');

/** What a terminal shows of what is written to it: lines, and the effects of its control sequences on them. */
function makeTerminal(columns = 80) {
  const lines = [''];
  let [row, column, wraps] = [0, 0, true];
  const put = (character: string): void => {
    if (column === columns && wraps) [row, column] = [row + 1, 0];
    const line = (lines[row] ?? '').padEnd(column);
    const at = Math.min(column, columns - 1);
    lines[row] = line.slice(0, at) + character + line.slice(at + 1);
    column = Math.min(column + 1, columns);
  };
  const control = (sequence: string): void => {
    if (sequence === '[?7l' || sequence === '[?7h') wraps = sequence.endsWith('h');
    if (/^\[\d*G$/.test(sequence)) column = Math.max(Number(sequence.slice(1, -1)) - 1, 0);
    if (sequence === '[K' || sequence === '[0K') lines[row] = (lines[row] ?? '').slice(0, column);
    if (sequence === '[2K') lines[row] = '';
    if (sequence === '7' || sequence === '8') throw new Error('The position is kept, and text above moves it.');
  };
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const [token, sequence] of chunk.toString().matchAll(TOKENS)) {
        if (sequence !== undefined) control(sequence);
        else if (token === '\r') column = 0;
        else if (token === '\n') {
          [row, column] = [row + 1, 0];
          lines[row] ??= '';
        } else put(token);
      }
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY: true, columns }), lines: () => lines.map((line) => line.trimEnd()) };
}

let bar: Bar | undefined;
afterEach(() => bar?.end());

const drawn = (lines: () => string[]) => expect.poll(() => lines().at(-1));

describe('the bar of a terminal', () => {
  test('has the last line alone: text stands above it, whole, and it is gone at the end', async () => {
    const { stream, lines } = makeTerminal();
    writeAbove(stream, 'before\n');
    bar = openBar(stream, '{bar} {percentage}% {phase}', { phase: 'bulk' });
    bar.update(0.5, { phase: 'bulk' });
    await drawn(lines).toMatch(/ 50% bulk$/);
    for (const text of ['one', 'resuming at row 1,001 of creators.ndjson', 'Stopping; press again to stop at once.']) {
      writeAbove(stream, `${text}\n`);
      await drawn(lines).toMatch(/ 50% bulk$/);
      expect(lines().at(-2)).toBe(text);
    }
    writeAbove(stream, 'two at\nonce\n');
    await drawn(lines).toMatch(/ 50% bulk$/);
    bar.end();
    bar.update(0.9, { phase: 'late' });
    writeAbove(stream, 'after\n');
    expect(lines()).toEqual([
      'before',
      'one',
      'resuming at row 1,001 of creators.ndjson',
      'Stopping; press again to stop at once.',
      'two at',
      'once',
      'after',
      '',
    ]);
  });

  test('stays one line where the terminal is narrow', async () => {
    const { stream, lines } = makeTerminal(30);
    bar = openBar(stream, `${'a long name of what is under way '.repeat(3)}{percentage}%`, {});
    for (const done of [0.1, 0.2, 0.3]) {
      bar.update(done, {});
      writeAbove(stream, `${done}\n`);
    }
    await drawn(lines).toMatch(/^a long name/);
    expect(lines()).toHaveLength(4);
  });

  test('gives its line to the next bar', async () => {
    const { stream, lines } = makeTerminal();
    const first = openBar(stream, 'first {percentage}%', {});
    bar = openBar(stream, 'second {percentage}%', {});
    await drawn(lines).toBe('second 0%');
    first.end();
    writeAbove(stream, 'text\n');
    await drawn(lines).toBe('second 0%');
    expect(lines()).toEqual(['text', 'second 0%']);
  });
});
