import type { Mapping } from '../../platform/imports/reading/shapes.ts';
import type { Of, OptionLine } from './imports.shapes.ts';
import type { StoredReading } from './imports.ts';
import { type Judged, Tallies, toOptionLine } from './tallies.ts';

/** Questions that only the brand's own records raise. */
type Code = 'known_differ' | 'leading_zeros';
type AskedQuestion = StoredReading['questions'][number];

const FIRST_LINES = 10;

interface Asked {
  lines: number;
  firstLines: number[];
  message: string;
  tallies: Tallies;
  sample: OptionLine[];
}

const MOST_SHOWN = 2;

/** The sums of new records, and those without the ones that are asked about. */
function subtract(all: Tallies, part: Tallies) {
  const partSums = new Map(part.sums.map((sum) => [sum.currency, sum]));
  return all.sums.flatMap(({ outcome, ...sum }) => {
    const { records = 0, amount = 0, refunded = 0, net = 0 } = partSums.get(sum.currency) ?? {};
    const [remaining, round] = [sum.records - records, (value: number) => Number(value.toFixed(4))];
    if (outcome !== 'new' || remaining === 0) return [];
    const parts = {
      amount: round(sum.amount - amount),
      refunded: round(sum.refunded - refunded),
      net: round(sum.net - net),
    };
    return [{ currency: sum.currency, records: remaining, ...parts }];
  });
}

const NOTHING = new Tallies();

/** Collects records that are known with other content, or only without the zeros before their ids. */
export class KnownDoubts {
  readonly #asked = new Map<Code, Asked>();

  add(judgedLine: Judged, of: Of, mapping: Mapping): void {
    const { outcome, kind, line, message } = judgedLine;
    const isUpdatable = of === 'orders' || of === 'roster';
    if (outcome === 'differs' && isUpdatable && mapping.known === undefined)
      this.#note('known_differ', judgedLine, `Line ${line.line}: ${message} Shall the file change what is known?`);
    if (kind === 'leading_zeros') this.#note('leading_zeros', judgedLine, message ?? '');
  }

  #note(code: Code, judgedLine: Judged, message: string): void {
    const question = this.#asked.get(code) ?? { lines: 0, firstLines: [], message, tallies: new Tallies(), sample: [] };
    question.lines += 1;
    if (question.firstLines.length < FIRST_LINES) question.firstLines.push(judgedLine.line.line);
    if (question.sample.length < MOST_SHOWN) question.sample.push({ ...toOptionLine(judgedLine.line), message: null });
    question.tallies.add(judgedLine);
    this.#asked.set(code, question);
  }

  questions(all: Tallies): AskedQuestion[] {
    const [newLines, refusedLines] = [all.count('new'), all.count('refused')];
    return [...this.#asked].map(([code, { lines, firstLines, message, tallies, sample }]): AskedQuestion => {
      const keptSample = sample.map((line) => ({ ...line, record: null, message: 'What is known stays.' }));
      const option = (mapping: Record<string, unknown>, label: string, records: number, without = NOTHING) => ({
        mapping,
        label,
        records,
        refused: refusedLines,
        sums: subtract(all, without),
        sample: mapping.zeros === 'same' || mapping.known === 'keep' ? keptSample : sample,
      });
      const isZeros = code === 'leading_zeros';
      const options = isZeros
        ? [
            option({ zeros: 'same' }, 'They are the same orders', newLines - lines, tallies),
            option({ zeros: 'other' }, 'They are other orders', newLines),
          ]
        : [
            option({ known: 'keep' }, 'Keep what is known', newLines),
            option({ known: 'update' }, 'Take larger refunds, cancellations and missing fields', newLines + lines),
          ];
      const field = isZeros ? 'order_id' : null;
      return { id: code, code, message, field, lines, first_lines: firstLines, options };
    });
  }
}
