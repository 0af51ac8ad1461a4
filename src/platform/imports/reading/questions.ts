import type { Choice, Doubt, Known } from './doubts.ts';
import { Entry } from './entry.ts';
import { USES } from './money.ts';
import type { Resolved } from './resolve.ts';
import type { Row } from './rows.ts';
import { askPlace } from './sections.ts';
import type { Mapping, Option, Question } from './shapes.ts';
import { listMeanings } from './statuses.ts';
import { judgeStatus, type Study, totalsLine, type Variant } from './study.ts';
import { addSums, type Tally } from './tally.ts';

interface QuestionContext {
  study: Study;
  resolved: Resolved;
  doubts: readonly Doubt[];
  known: Known;
  mapping: Mapping;
  isTotal: boolean;
  totals: readonly Row[];
}

const describe = (tally: Tally) => ({
  sums: tally.sums('read'),
  records: tally.counts.read,
  refused: tally.counts.refused,
});

/** A doubt whose choices give different records, with what each would record. */
function askDoubt(doubt: Doubt, { study }: QuestionContext): Question[] {
  const variants = study.variants.filter((variant) => variant.doubt === doubt);
  const useTally = doubt.uses === undefined ? undefined : study.tally.uses.get(doubt.uses);
  if (doubt.uses !== undefined && useTally === undefined) return [];
  if (doubt.uses === USES.adjusted && !study.tally.uses.has(USES.repeatsTotal)) return [];
  const isSettled = variants.length > 0 && variants.every(({ digest }) => digest === 0);
  const [first] = doubt.choices;
  if (isSettled || !first) return [];
  const seenDigests = new Set([0]);
  const different: Variant[] = [];
  for (const variant of variants) {
    if (!seenDigests.has(variant.digest)) different.push(variant);
    seenDigests.add(variant.digest);
  }
  const sample = (choice: Choice) => study.examples.ofChoice(doubt, choice);
  const options: Option[] = [
    { ...first, ...describe(study.tally), sample: sample(first) },
    ...different.map(({ choice, tally }) => ({ ...choice, ...describe(tally), sample: sample(choice) })),
  ];
  const { code, field, message } = doubt;
  const lines = useTally
    ? { lines: useTally.count, first_lines: useTally.first }
    : { lines: doubt.lines, first_lines: doubt.firstLines };
  return [{ id: field === null ? code : `${code}:${field}`, code, message, field, ...lines, options }];
}

const MEANINGS = {
  counts: 'The order counts',
  refunded: 'The order was refunded in full',
  paid: 'It is paid',
  active: 'The person is active',
  paused: 'The person is paused',
  left_out: 'Leave it out',
} as const;

function askStatuses({ study, known }: QuestionContext): Question[] {
  const base = describe(study.tally);
  return study.tally.statuses().flatMap(({ value, list, isUndecided, sums, givenBack }) => {
    if (!isUndecided || list.count === 0) return [];
    const options = listMeanings(known.request.of).map((meaning) => {
      const isCounted = meaning !== 'left_out';
      const addedSums = meaning === 'refunded' ? givenBack : sums;
      const all = isCounted ? addSums(base.sums, addedSums) : base.sums;
      const records = base.records + (isCounted ? list.count : 0);
      const { now } = known.request;
      const entries = study.examples.ofStatuses.get(value) ?? [];
      return {
        sample: entries.map((entry) => judgeStatus(entry, study.plan, now, value, meaning)),
        mapping: { statuses: { [value]: meaning } },
        label: MEANINGS[meaning],
        sums: all,
        records,
        refused: base.refused,
      };
    });
    const message =
      askPlace(value) ?? (value === '' ? 'What does an empty status mean?' : `What does the status “${value}” mean?`);
    return [
      {
        id: `status_meaning:${value}`,
        code: 'status_meaning',
        message,
        field: 'status',
        lines: list.count,
        first_lines: list.first,
        options,
      },
    ];
  });
}

/** Names without an address: which person each is, nobody can read from the file. */
function askPeople({ study, mapping }: QuestionContext): Question[] {
  return [...study.tally.people].flatMap(([name, { count, first }]) =>
    mapping.people?.[name] !== undefined
      ? []
      : [
          {
            id: `people:${name}`,
            code: 'people',
            message: `Who is ${name}?`,
            field: 'name',
            lines: count,
            first_lines: first,
            options: [],
            sample: study.examples.ofPeople.get(name) ?? [],
          },
        ],
  );
}

function askTotals({ isTotal, totals, mapping, study }: QuestionContext): Question[] {
  if (totals.length === 0 || isTotal || mapping.totals === 'ignore') return [];
  const lines = totals.map(({ line }) => line);
  const message = `Line ${lines.join(', ')} adds up the file to something else than was read.`;
  const sample = totals.map((row) => totalsLine(new Entry(row)).line);
  const options = [
    { mapping: { totals: 'ignore' as const }, label: 'Leave that line out', ...describe(study.tally), sample },
  ];
  return [
    {
      id: 'totals_disagree',
      code: 'totals_disagree',
      message,
      field: null,
      lines: lines.length,
      first_lines: lines,
      options,
    },
  ];
}

/** Everything that must be answered before the file can be recorded. */
export function askQuestions(context: QuestionContext): Question[] {
  const questions = [
    ...context.doubts.flatMap((doubt) => askDoubt(doubt, context)),
    ...askStatuses(context),
    ...askPeople(context),
    ...askTotals(context),
  ];
  return questions.map((question, i) => {
    const earlier = questions.slice(0, i).filter(({ id }) => id === question.id).length;
    return earlier === 0 ? question : { ...question, id: `${question.id}:${earlier + 1}` };
  });
}
