/** One measured figure: printed as a row of the table and in the closing JSON line. */
export interface Ratio {
  name: string;
  value: number;
  /** The value to reach; null if it is only measured. */
  floor: number | null;
  /** Whether the floor is a minimum or a maximum. */
  bound: 'at least' | 'at most';
  /** The absolute figures behind the ratio. */
  measured: string;
  /** The caches that are warm. */
  warm: string;
  /** Could not be measured; `measured` says why. */
  isFailed?: true;
}

function passes({ value, floor, bound, isFailed }: Ratio): boolean {
  if (isFailed) return false;
  if (floor === null) return true;
  return bound === 'at least' ? value >= floor : value <= floor;
}

export const round = (value: number): number => Number(value.toPrecision(value >= 100 ? 4 : 3));

/** Prints on stderr what is done next and the seconds since the start. */
export function progress(line: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

function row(ratio: Ratio): string[] {
  const floor = ratio.floor === null ? '-' : `${ratio.bound === 'at least' ? '>=' : '<='} ${ratio.floor}`;
  const result = ratio.isFailed ? 'FAILED' : ratio.floor === null ? '' : passes(ratio) ? 'ok' : 'MISSED';
  return [ratio.name, ratio.isFailed ? '-' : String(round(ratio.value)), floor, result, ratio.measured, ratio.warm];
}

function table(rows: readonly string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
  return rows
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Receives ratios as they become known. */
export type Add = (...ratios: readonly Ratio[]) => void;

export interface Results {
  /**
   * Runs one part and prints each of its ratios as soon as it is added. A part that cannot be measured is reported as
   * failed and returns undefined, so that earlier results are not lost.
   */
  part<T>(name: string, work: (add: Add) => Promise<T>): Promise<T | undefined>;
  /** Prints the table and, as the last line of stdout, the JSON. Returns whether every floor was reached. */
  report(): boolean;
}

function failed(name: string, error: unknown): Ratio {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const why = [message, ...(cause instanceof Error ? [cause.message] : [])]
    .join(' ')
    .replace(/\s+/g, ' ')
    .slice(0, 200);
  return { name, value: Number.NaN, floor: null, bound: 'at least', measured: why, warm: '-', isFailed: true };
}

export function openResults(): Results {
  const all: Ratio[] = [];
  const add: Add = (...ratios) => {
    all.push(...ratios);
    for (const ratio of ratios) progress(row(ratio).join('  ').trimEnd());
  };
  return {
    part: async (name, work) => {
      try {
        return await work(add);
      } catch (error) {
        add(failed(name, error));
        return undefined;
      }
    },
    report: () => {
      const head = ['ratio', 'value', 'floor', '', 'measured', 'warm caches'];
      process.stdout.write(`\n${table([head, ...all.map(row)])}\n\n`);
      const facts = all.map((ratio) => {
        const { name, value, floor, isFailed } = ratio;
        return { name, value: isFailed ? null : round(value), floor, pass: passes(ratio) };
      });
      process.stdout.write(`${JSON.stringify({ ratios: facts })}\n`);
      return all.length > 0 && all.every(passes);
    },
  };
}
