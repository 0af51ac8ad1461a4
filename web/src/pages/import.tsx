import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { day, money, number, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { ImportColumns } from './import-columns.tsx';
import { ImportOptions } from './import-options.tsx';
import { describeRecord } from './import-record.ts';
import { kindName } from './imports.tsx';

export type Import = Answer<'get_import'>['data'];
type Question = Import['questions'][number];
type CurrencySum = Question['options'][number]['sums'][number];

const SHOWN = ['get_import', 'list_imports'] as const;
const BUSY: readonly Import['status'][] = ['reading', 'running', 'undoing'];

/** The heading of a step. It takes the focus when the step begins, so that a reader's place is there. */
function Step({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="card stack">
      <div className="card-head">
        <h2 tabIndex={-1} ref={heading}>
          {title}
        </h2>
        {action}
      </div>
      {children}
    </section>
  );
}

const sumText = (sums: readonly CurrencySum[]): string =>
  sums.map(({ net, currency }) => money(net, currency)).join(', ') || 'No money';

const formatCount = (count: number, one: string, many: string) => `${number(count)} ${count === 1 ? one : many}`;

/** The reading of the file in one sentence. */
function recognized({ format, counts, text, file }: Import): string {
  const parts = [
    format?.name ?? file.name,
    counts && `${formatCount(counts.lines, 'line', 'lines')} below the header`,
    text?.sheet ? `sheet ${text.sheet}` : text?.encoding.toUpperCase(),
  ];
  return parts.filter(Boolean).join(', ');
}

function AskedQuestion({
  of: { message, options, first_lines: lines },
  answer,
  isBusy,
}: {
  of: Question;
  answer: (mapping: Record<string, unknown>) => void;
  isBusy: boolean;
}) {
  return (
    <div className="note-box stack">
      <h3>{message}</h3>
      {lines.length > 0 && (
        <p className="hint">
          {lines.length === 1 ? 'Line' : 'Lines'} {lines.slice(0, 5).join(', ')}
        </p>
      )}
      {options.length === 0 && (
        <p>Nobody on the roster has this name. Add them first, or name a column with their addresses below.</p>
      )}
      <ul className="answers">
        {options.map(({ label, mapping, sums, records, refused, sample }) => (
          <li key={label} className="stack">
            <Button isBusy={isBusy} onPress={() => answer(mapping)}>
              {label}
            </Button>
            <p>
              {formatCount(records, 'record', 'records')}
              {sums.length > 0 && `, ${sumText(sums)}`}
              {refused > 0 && `, ${number(refused)} refused`}
            </p>
            <ul className="plain hint">
              {sample.map(({ line, cells, record, message }) => (
                <li key={line}>
                  {record === null && message !== null
                    ? message
                    : `Line ${line}: ${describeRecord(record) || cells.filter(Boolean).join(' · ')}`}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  );
}

const OUTCOMES = [
  ['new', 'Will be recorded'],
  ['known', 'Known already'],
  ['differs', 'Known otherwise, and kept'],
  ['repeated', 'Repeated in the file'],
  ['left_out', 'Left out'],
  ['refused', 'Refused'],
] as const;

/** Nothing of a file that is compared is recorded. */
const COMPARED_OUTCOMES = [
  ['known', 'Here, to be compared'],
  ['new', 'Missing here'],
  ['repeated', 'Repeated in the file'],
  ['left_out', 'Left out'],
  ['refused', 'Cannot be read'],
] as const;

/** Counts and sums by outcome: what is left out is said, with its sum. */
function Outcomes({ of: { of, counts, sums } }: { of: Import }) {
  if (!counts) return null;
  const outcomes = of === 'reconciliation' ? COMPARED_OUTCOMES : OUTCOMES;
  const rows = outcomes.filter(([outcome]) => counts[outcome] > 0);
  return (
    <PlainTable
      caption="What becomes of the records"
      rows={rows}
      getKey={([outcome]) => outcome}
      columns={[
        { head: 'Outcome', cell: ([, label]) => label },
        { head: 'Records', cell: ([outcome]) => number(counts[outcome]), isNumber: true },
        {
          head: 'Amount',
          isNumber: true,
          cell: ([outcome]) => sumText(sums.filter((sum) => sum.outcome === outcome)).replace('No money', '–'),
        },
      ]}
    />
  );
}

/** What is left out for its status, with its sum. */
function LeftOut({ of: { statuses } }: { of: Import }) {
  const rows = statuses.filter(({ means }) => means === 'left_out');
  if (rows.length === 0) return null;
  return (
    <ul className="plain">
      {rows.map(({ value, lines, sums }) => (
        <li key={value}>
          Left out as {value === '' ? 'without a status' : `“${value}”`}: {formatCount(lines, 'line', 'lines')}
          {sums.length > 0 && `, ${sumText(sums)}`}
        </li>
      ))}
    </ul>
  );
}

/** The lines of a file are kept for a week; their counts stay. */
function Refusals({ of: { id, refusals, counts } }: { of: Import }) {
  if (refusals.length === 0) {
    return counts !== null && counts.refused > 0 ? (
      <p className="hint">
        The file and its lines were removed a week after the import, so the refused ones are no longer here.
      </p>
    ) : null;
  }
  return (
    <>
      <h3>Refused</h3>
      <ul className="plain">
        {refusals.map(({ kind, lines, first_lines: first, message, column, value, expected }) => (
          <li key={kind}>
            {message}{' '}
            {column !== null && expected !== null && !message.includes(expected) && (
              <>
                “{column}” says “{value}”; right is {expected}.{' '}
              </>
            )}
            {lines === 1
              ? !message.includes(`ine ${first[0]}`) && first.length > 0 && `Line ${first[0]}.`
              : `${number(lines)} lines: ${first.join(', ')}${lines > first.length ? ' …' : ''}.`}
          </li>
        ))}
      </ul>
      <div className="actions">
        <Download
          id="list_import_lines"
          params={{ id }}
          query={{ outcome: 'refused' }}
          profile="mend"
          name="refused-lines.csv"
          label="Download these lines"
        />
      </div>
    </>
  );
}

function Sample({ of: { sample } }: { of: Import }) {
  return (
    <details>
      <summary>The first {number(sample.length)} records</summary>
      <PlainTable
        caption="The first records"
        rows={sample}
        getKey={({ line }) => String(line)}
        columns={[
          { head: 'Line', cell: ({ line }) => number(line), isNumber: true },
          { head: 'Cells', cell: ({ cells }) => cells.filter(Boolean).join(' · '), isWide: true },
          { head: 'Read as', cell: ({ record, message }) => describeRecord(record) || message },
          { head: 'Outcome', cell: ({ outcome }) => words(outcome) },
        ]}
      />
    </details>
  );
}

function recordLabel({ counts, sums, of }: Import): string {
  const { known = 0, new: missing = 0 } = counts ?? {};
  if (of === 'reconciliation') return `Compare ${formatCount(known + missing, 'order', 'orders')}`;
  const noun = {
    orders: 'order',
    commissions: 'commission',
    roster: 'creator',
    payouts: 'payment',
    payment_details: 'payment address',
  }[of];
  const own = sums.filter(({ outcome }) => outcome === 'new');
  const sum = own.length === 0 ? '' : `, ${sumText(own)} net`;
  return `Record ${formatCount(counts?.new ?? 0, noun, noun.endsWith('s') ? `${noun}es` : `${noun}s`)}${sum}`;
}

function Review({ of }: { of: Import }) {
  const confirm = useChange('confirm_import', SHOWN);
  const isCompared = of.of === 'reconciliation' && (of.counts?.known ?? 0) > 0;
  const isEmpty = !isCompared && (of.counts?.new ?? 0) === 0 && (of.counts?.differs ?? 0) === 0;
  return (
    <Step title="Review">
      <p>{recognized(of)}</p>
      {of.warnings.map(({ code, message }) => (
        <p key={code + message} className="note-box">
          {message}
        </p>
      ))}
      <Outcomes of={of} />
      <ImportOptions of={of} />
      <LeftOut of={of} />
      <Refusals of={of} />
      <Sample of={of} />
      <ImportColumns of={of} />
      {confirm.error && <Failure error={confirm.error} />}
      {isEmpty && <p>Nothing in this file is new.</p>}
      <div className="actions">
        <Discard of={of} />
        <Button
          kind="primary"
          needs="confirm_import"
          isBusy={confirm.isPending}
          isDisabled={isEmpty}
          onPress={() => confirm.mutate({ params: { id: of.id }, body: { reading_id: of.reading_id ?? '' } })}
        >
          {recordLabel(of)}
        </Button>
      </div>
    </Step>
  );
}

function Discard({ of: { id, status } }: { of: Import }) {
  const remove = useChange('delete_import', SHOWN);
  const label = status === 'running' ? 'Stop' : 'Discard';
  return (
    <Button
      needs="delete_import"
      kind="danger"
      isBusy={remove.isPending}
      onPress={() => remove.mutate({ params: { id } })}
    >
      {label}
    </Button>
  );
}

function Questions({ of }: { of: Import }) {
  const patch = useChange('update_import', SHOWN);
  const answer = (mapping: Record<string, unknown>) => patch.mutate({ params: { id: of.id }, body: { mapping } });
  return (
    <Step title={formatCount(of.questions.length, 'question', 'questions')}>
      <p>{recognized(of)}</p>
      {patch.error && <Failure error={patch.error} />}
      {of.questions.map((question) => (
        <AskedQuestion key={question.id} of={question} answer={answer} isBusy={patch.isPending} />
      ))}
      <ImportColumns of={of} />
      <div className="actions">
        <Discard of={of} />
      </div>
    </Step>
  );
}

function Undo({ of: { id, undo } }: { of: Import }) {
  const change = useChange('undo_import', SHOWN);
  if (!undo.possible) return undo.why === null ? null : <p className="hint">{undo.why}</p>;
  return (
    <Confirm
      label="Undo"
      title="Undo this import?"
      action="Undo"
      onConfirm={() => change.mutateAsync({ params: { id } })}
    >
      <p>
        {formatCount(undo.removes - (undo.stays ?? 0), 'row goes', 'rows go')}. What something else changed or refers to
        since stays{undo.stays !== null && undo.stays > 0 && `: ${number(undo.stays)}`}. This is possible until{' '}
        {day(undo.until)}.
      </p>
    </Confirm>
  );
}

function Report({ of }: { of: Import }) {
  const { status, result, error } = of;
  return (
    <Step title="Report" action={<Badge state={status} />}>
      {error && <p className="problem">{error}</p>}
      <Facts
        of={[
          ['Recorded', result && of.of !== 'reconciliation' && number(result.written)],
          ['Changed', result && result.updated > 0 && number(result.updated)],
          ['Known already', result && number(result.known)],
          ['Refused', of.counts && number(of.counts.refused)],
          ['Ended', of.ended_at && day(of.ended_at)],
        ]}
      />
      <Refusals of={of} />
      <div className="actions">
        {of.of === 'reconciliation' ? (
          <Link className="button primary" to="/reconciliation" search={{}}>
            See the differences
          </Link>
        ) : (
          <Undo of={of} />
        )}
        <Link className="button" to="/imports/new" search={{ of: of.of }}>
          Import another file
        </Link>
      </div>
    </Step>
  );
}

function Progress({ of }: { of: Import }) {
  const { status, handled, counts } = of;
  const text = {
    reading: 'The file is read …',
    running: `${number(handled)} of ${number(counts?.records ?? 0)} records are done …`,
    undoing: 'What was recorded is taken back …',
  };
  const statusText = status === 'reading' || status === 'running' || status === 'undoing' ? text[status] : '';
  return (
    <Step title={status === 'reading' ? 'File' : 'Report'} action={<Badge state={status} />}>
      <p role="status">{statusText}</p>
      {status === 'running' && (
        <div className="actions">
          <Discard of={of} />
        </div>
      )}
    </Step>
  );
}

function RefusedFile({ of }: { of: Import }) {
  return (
    <Step title="The file cannot be read" action={<Badge state={of.status} />}>
      {of.refusals.map(({ kind, message }) => (
        <p key={kind} className="problem">
          {message}
        </p>
      ))}
      <div className="actions">
        <Discard of={of} />
        <Link className="button primary" to="/imports/new" search={{ of: of.of }}>
          Choose another file
        </Link>
      </div>
    </Step>
  );
}

function CurrentStep({ of }: { of: Import }) {
  if (BUSY.includes(of.status)) return <Progress key={of.status} of={of} />;
  if (of.status === 'needs_answers') return <Questions key="questions" of={of} />;
  if (of.status === 'ready') return <Review key="review" of={of} />;
  if (of.status === 'refused') return <RefusedFile key="refused" of={of} />;
  if (of.status === 'expired') return <Empty title="This import was discarded">Send the file again.</Empty>;
  return <Report key="report" of={of} />;
}

/** One import, at the step where it is. The server has its state: it can be left and opened again. */
export function ImportPage() {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const until = ({ data }: Answer<'get_import'>) => !BUSY.includes(data.status);
  const query = useCall('get_import', { params: { id } }, { refetchMs: 1_000, until });
  const data = query.data?.data;
  if (query.error) return <Failure error={query.error} again={() => void query.refetch()} />;
  if (!data || data.id !== id) return <Loading />;
  return (
    <>
      <PageHead title={data.file.name} hint={`${kindName(data.of)}, from ${data.source}`}>
        <Link className="button" to="/imports" search={{}}>
          All imports
        </Link>
      </PageHead>
      <CurrentStep of={data} />
    </>
  );
}
