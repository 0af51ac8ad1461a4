import { type Command, InvalidArgumentError } from 'commander';
import { type Bounds, DEFAULT_BOUNDS } from '../src/directory/imports/indexing/bounds.ts';
import { readCanaries } from '../src/directory/imports/indexing/canaries.ts';
import { filled } from '../src/process/commands/arguments.ts';

export interface BoundsOptions {
  maxShrink?: number;
  maxFillDrop?: number;
  maxDrift?: number;
  hold?: boolean;
  force?: boolean;
  canaries?: string;
}

/** Reads `10`, or `10%` where the number is a percentage. */
function upTo100(text: string): number {
  const number = /^\d{1,3}(?:\.\d{1,6})?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (!(number <= 100)) throw new InvalidArgumentError('must be a number from 0 to 100.');
  return number;
}

export function boundsOptions(command: Command): Command {
  const { maxShrink, maxFillDrop, maxDrift } = DEFAULT_BOUNDS;
  return command
    .option('--max-shrink <percent>', `live creators that may be missing (default ${maxShrink}%)`, upTo100)
    .option('--max-fill-drop <points>', `how much less a field may be filled (default ${maxFillDrop})`, upTo100)
    .option('--max-drift <points>', `how far the share of a value or a metro may move (default ${maxDrift})`, upTo100)
    .option('--hold', 'build and compare, then wait for `approve` or `discard`')
    .option('--force', 'go live even outside these bounds; canaries still hold it')
    .option('--canaries <file>', 'searches that must keep finding what they find, one JSON object per line', filled);
}

/** The bounds that a command sets; the others are the defaults, or those of the import that it resumes. */
export async function readBounds(options: BoundsOptions): Promise<Partial<Bounds> | undefined> {
  const { maxShrink, maxFillDrop, maxDrift, hold, force, canaries } = options;
  if (hold && force) throw new InvalidArgumentError('--hold and --force contradict each other.');
  const mode = hold ? 'hold' : force ? 'force' : undefined;
  const bounds: Partial<Bounds> = {
    ...(maxShrink === undefined ? {} : { maxShrink }),
    ...(maxFillDrop === undefined ? {} : { maxFillDrop }),
    ...(maxDrift === undefined ? {} : { maxDrift }),
    ...(mode === undefined ? {} : { mode }),
    ...(canaries === undefined ? {} : { canaries: await readCanaries(canaries) }),
  };
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}
