import { Option } from 'commander';
import { around } from './around.ts';

type Cell = string | number | boolean | null;

export const jsonOption = () => new Option('--json', 'as JSON, an array of objects');

const shownCell = (cell: Cell): string => (cell === null ? '-' : String(cell).replace(/\s+/g, ' '));

/**
 * Prints a list on stdout: columns on a terminal, tabs for a program, one array with `json`. Column names go to stderr,
 * so that readers of stdout get only rows.
 */
export function printList<Row extends Record<string, Cell>>(
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
  json: boolean | undefined,
): void {
  if (json) {
    around().out.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const lines = rows.map((row) => columns.map((name) => shownCell(row[name] ?? null)));
  const head = columns.map((name) => name.toUpperCase().replaceAll('_', ' '));
  const widths = head.map((name, i) => Math.max(name.length, ...lines.map((line) => line[i]?.length ?? 0)));
  const inColumns = (cells: readonly string[]) => cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  const isTerminal = around().out.isTTY;
  around().err.write(`${isTerminal ? inColumns(head).trimEnd() : head.join('\t')}\n`);
  for (const line of lines) around().out.write(`${isTerminal ? inColumns(line).trimEnd() : line.join('\t')}\n`);
}
