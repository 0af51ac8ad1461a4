import { Writable } from 'node:stream';
import { Presets, SingleBar } from 'cli-progress';
import { freeLastLine, showLastLine } from './last-line.ts';

const STEPS = 1_000;
const CLEAR = '\r\u001b[K';
/** The library returns to where the bar began, which is a line of text once something was written above it. */
const POSITIONS = ['\u001b7', '\u001b8'];

export interface Terminal extends Writable {
  isTTY?: boolean;
  columns?: number;
}

/** The terminal without the positions that the library keeps. */
function withoutPositions(terminal: Terminal) {
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const text = POSITIONS.reduce((kept, position) => kept.replaceAll(position, ''), chunk.toString());
      if (text !== '') terminal.write(text);
      done();
    },
  });
  return Object.assign(stream, { isTTY: true, columns: terminal.columns ?? 80 });
}

/** The library fills these names in itself. */
type Reserved = 'bar' | 'percentage' | 'total' | 'value' | 'eta' | 'eta_formatted' | 'duration' | 'duration_formatted';
type BarValues = Record<string, string> & { [name in Reserved]?: never };

export interface Bar {
  /** From 0 to 1, with the other values of its format. */
  update(done: number, values: BarValues): void;
  end(): void;
}

/** A bar on one line of the terminal, the last one. Text goes above it by `writeAbove`; it is drawn again within a tenth of a second. */
export function openBar(terminal: Terminal, format: string, values: BarValues): Bar {
  const bar = new SingleBar(
    {
      format,
      stream: withoutPositions(terminal),
      barsize: 24,
      hideCursor: true,
      clearOnComplete: true,
      forceRedraw: true,
      // It ends by the handlers of the commands, which say what comes next.
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  const line = {
    clear: () => void terminal.write(CLEAR),
    end: () => {
      process.removeListener('exit', line.end);
      freeLastLine(line);
      bar.stop();
    },
  };
  // A process that ends at once must not leave the cursor hidden.
  process.once('exit', line.end);
  showLastLine(line);
  bar.start(STEPS, 0, values);
  return { update: (done, now) => bar.update(Math.floor(Math.min(done, 1) * STEPS), now), end: line.end };
}
