import { whole } from '../../../kit/values/text.ts';
import type { Choice, Doubt } from './doubts.ts';
import { Entry } from './entry.ts';
import type { Judged } from './judge.ts';
import type { Line } from './shapes.ts';

/** Records that are shown with each question. */
const MOST = 2;
const MOST_NAMES = 300;

/** A record in the ways in which the choices of a doubt read it. */
interface Example {
  line: number;
  byChoice: ReadonlyMap<Choice, Line>;
}

/** What judges a record under one choice of a doubt. */
interface Reader {
  doubt: Doubt;
  choice: Choice;
}

/** A kept line must not keep the whole chunk that its cells were cut from. */
const keepLine = (line: Line): Line => ({ ...line, cells: line.cells.map((cells) => cells.map(whole)) });

function keepEntry({ rows, lines }: Entry): Entry {
  const [kept, ...others] = rows.map(
    (cells, i) => new Entry({ line: lines[i] ?? 0, cells: cells.map(whole), isPlain: false }),
  );
  if (!kept) throw new Error('A record has rows.');
  for (const other of others) kept.merge(other);
  return kept;
}

function addNamed<Kept>(all: Map<string, Kept[]>, name: string, keep: () => Kept): void {
  const kept = all.get(name) ?? [];
  if (kept.length >= MOST || (kept.length === 0 && all.size >= MOST_NAMES)) return;
  all.set(name, [...kept, keep()]);
}

/** The first records that each question is about: what an answer means is seen on a line of the file. */
export class Examples {
  readonly #ofDoubts = new Map<Doubt, Example[]>();
  /** Records whose status nobody has given a meaning. */
  readonly ofStatuses = new Map<string, Entry[]>();
  readonly ofPeople = new Map<string, Line[]>();
  /** The first records that are read, for doubts with one choice. */
  readonly #first: Line[] = [];
  /** The first records, where none is read before something else is answered. */
  readonly #any: Line[] = [];

  /** Adds a record with how each reader reads it; undefined where it reads the same. */
  add(entry: Entry, base: Judged, readers: readonly Reader[], readings: readonly (Judged | undefined)[]): void {
    const { line, status, person } = base;
    if (this.#any.length < MOST) this.#any.push(keepLine(line));
    if (this.#first.length < MOST && line.outcome === 'read') this.#first.push(keepLine(line));
    if (status?.isUndecided && line.kind === 'status_unknown')
      addNamed(this.ofStatuses, status.value, () => keepEntry(entry));
    if (person !== null) addNamed(this.ofPeople, person, () => keepLine(line));
    readings.forEach((reading, i) => {
      const doubt = readers[i]?.doubt;
      if (reading && doubt) this.#addDoubt(doubt, line, readers, readings);
    });
  }

  #addDoubt(doubt: Doubt, base: Line, readers: readonly Reader[], readings: readonly (Judged | undefined)[]): void {
    const examples = this.#ofDoubts.get(doubt) ?? [];
    if (examples.length >= MOST || examples.at(-1)?.line === base.line) return;
    const others = readers.flatMap(({ doubt: other, choice }, i) =>
      other === doubt ? [[choice, keepLine(readings[i]?.line ?? base)] as const] : [],
    );
    const [first] = doubt.choices;
    const byChoice = new Map([...(first ? [[first, keepLine(base)] as const] : []), ...others]);
    this.#ofDoubts.set(doubt, [...examples, { line: base.line, byChoice }]);
  }

  /** The records that tell the choices of a doubt apart, as one of them reads them. */
  ofChoice(doubt: Doubt, choice: Choice): Line[] {
    if (doubt.choices.length === 1) return this.#first.length > 0 ? this.#first : this.#any;
    return (this.#ofDoubts.get(doubt) ?? []).flatMap(({ byChoice }) => byChoice.get(choice) ?? []);
  }
}
