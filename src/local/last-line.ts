import type { Writable } from 'node:stream';

/** What takes a bar off the last line of the terminal, for text that goes there, and what ends it. */
interface LastLine {
  clear(): void;
  end(): void;
}

let currentLine: LastLine | undefined;

export function showLastLine(line: LastLine): void {
  currentLine?.end();
  currentLine = line;
}

export function freeLastLine(line: LastLine): void {
  if (currentLine === line) currentLine = undefined;
}

/** Takes a bar off the last line until it is drawn next. What is written then begins at the start of a line. */
export const clearLastLine = (): void => currentLine?.clear();

/** Takes a bar away for good. */
export const endLastLine = (): void => currentLine?.end();

/** Writes whole lines above the bar, if there is one. */
export function writeAbove(stream: Writable, text: string): void {
  clearLastLine();
  stream.write(text);
}
