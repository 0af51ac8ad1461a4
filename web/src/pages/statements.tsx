import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer, Query, Row } from '../call/call.ts';
import { useAll, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, type Filter, Filters, sortIn, useFilters } from '../kit/filters.tsx';
import { counted, day, money, month, today } from '../kit/format.ts';
import { FollowedJob } from '../kit/job.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Button, Copy, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Foot, ReadFoot } from '../kit/totals.tsx';
import { toUtcDay } from '../kit/utc-day.ts';
import { StatementDialog, useStatementDisputes } from './statement-lines.tsx';
import { isWholeMonth, period } from './statement-period.ts';

type Statement = Row<'list_statements'>;
type CreatedStatement = Answer<'create_statement'>['data'];

const TOTALS = [
  ['Opening balance', 'opening', true],
  ['Earned', 'commission', true],
  ['Paid out', 'paid_out', true],
  ['Closing balance', 'closing', false],
] as const;

/** The last complete month. */
function lastMonth(): { from: string; to: string } {
  const now = new Date(today());
  const dayAt = (month: number, date: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), month, date)).toISOString().slice(0, 10);
  return { from: dayAt(now.getUTCMonth() - 1, 1), to: dayAt(now.getUTCMonth(), 0) };
}

/** Months that the filter offers. */
const MONTHS = 12;

const DISPUTED_FILTER: Filter = {
  name: 'disputed',
  label: 'Dispute',
  kind: 'select',
  options: [['true', 'Disputed']],
};

/** The months up to this one, newest first. */
function buildMonthFilter(): Filter {
  const now = new Date(today());
  const months = Array.from({ length: MONTHS }, (_, i) =>
    toUtcDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).slice(0, 7),
  );
  return { name: 'covers', label: 'Period', kind: 'select', options: months.map((one) => [`${one}-15`, month(one)]) };
}

const SEND_EMAIL = { name: 'send_email', label: 'Email the creator the link' } as const;

function Making({
  email,
  onMade,
  onClose,
}: {
  email: string | undefined;
  onMade: (statement: CreatedStatement) => void;
  onClose: () => void;
}) {
  const { from, to } = lastMonth();
  return (
    <OperationForm
      operation="create_statement"
      action="Create the statement"
      onCancel={onClose}
      start={{ creator_email: email, from, to }}
      fields={['creator_email', 'from', { name: 'to', hint: 'That day is included.' }, SEND_EMAIL]}
      omits={['time_zone']}
      shown={['list_statements']}
      onDone={({ data }) => onMade(data)}
    />
  );
}

/** Statements of everybody, made by a job. */
function MakingAll({ onClose }: { onClose: () => void }) {
  const [jobId, setJobId] = useState<string>();
  if (jobId !== undefined) {
    return (
      <FollowedJob
        id={jobId}
        noun="run"
        what="creators"
        onCancel="Statements that were created so far stay."
        done={({ files }) => (
          <div className="stack">
            <p role="status">All statements are created.</p>
            {files.map(({ name, url }) => url !== null && <a key={name} href={url}>{`Download ${name}`}</a>)}
          </div>
        )}
      />
    );
  }
  return (
    <OperationForm
      operation="create_statements"
      action="Create them"
      onCancel={onClose}
      start={lastMonth()}
      fields={[
        'from',
        { name: 'to', hint: 'That day is included.' },
        { name: 'send_email', label: 'Email every creator the link' },
      ]}
      omits={['time_zone']}
      shown={['list_statements', 'list_jobs']}
      onDone={({ data }) => setJobId(data.id)}
    />
  );
}

/** The sums of the statements that cover a chosen month: those of several months would count a balance more than once. */
function StatementTotals({ query }: { query: Query<'list_statements'> }) {
  const { data } = useAll('list_statements', query);
  if (!data) return <ReadFoot />;
  const sums = Map.groupBy(
    data.flatMap(({ totals }) => totals ?? []),
    ({ currency }) => currency,
  );
  if (sums.size === 0) return null;
  return (
    <Foot
      label="Totals of these statements"
      lines={[...sums].map(([currency, its]) => ({
        count: sums.size === 1 ? counted(data.length, 'statement') : `In ${currency}`,
        sums: TOTALS.map(
          ([head, name]) =>
            [
              head,
              money(
                its.reduce((sum, one) => sum + one[name], 0),
                currency,
              ),
            ] as const,
        ),
      }))}
    />
  );
}

export function Statements() {
  const { get } = useFilters();
  const query = {
    creator_email: get('creator_email'),
    covers: get('covers'),
    disputed: get('disputed') === 'true' ? true : undefined,
    sort: sortIn(get),
  };
  const list = useRows('list_statements', query);
  const panel = useOpened();
  const making = useDialog('create');
  const makingAll = useDialog('everybody');
  const [createdStatement, setCreatedStatement] = useState<CreatedStatement>();
  const disputeIds = useStatementDisputes();
  const columns: readonly Column<Statement>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => panel.open(id)}
          second={creator_name && <span className="wide">{creator_email}</span>}
        >
          {creator_name ?? creator_email ?? id}
        </Opener>
      ),
    },
    {
      head: 'Period',
      chip: 'value',
      cell: (row) => (
        <span className="row">
          <span className={isWholeMonth(row.from, row.to) ? 'unbroken' : undefined}>{period(row)}</span>{' '}
          {disputeIds.has(row.id) && (
            <Link to="/disputes" search={{ open: disputeIds.get(row.id) }} className="badge wait">
              Disputed
            </Link>
          )}
        </span>
      ),
    },
    ...TOTALS.map(
      ([head, name, isWide]): Column<Statement> => ({
        head,
        isNumber: true,
        isWide,
        cell: ({ totals }) => totals?.map((one) => money(one[name], one.currency)).join(' + ') || '–',
      }),
    ),
    {
      head: 'Created',
      isWide: true,
      isOrder: true,
      cell: ({ created_at }) => day(created_at),
    },
  ];
  return (
    <>
      <PageHead title="Statements" hint="What a creator earned and was paid in a period, with a page for the creator.">
        <Download id="list_statements" query={query} name="statements.csv" />
        <Button needs="create_statement" onPress={making.open}>
          New statement
        </Button>
        <Button needs="create_statements" kind="primary" onPress={makingAll.open}>
          Create for all creators
        </Button>
      </PageHead>
      <Filters of={[CREATOR_FILTER, buildMonthFilter(), DISPUTED_FILTER]} />
      <Table
        caption="Statements"
        noun="statement"
        list={list}
        columns={columns}
        empty={<Empty title="No statements here">Create one when a creator asks about a month’s earnings.</Empty>}
        foot={query.covers && <StatementTotals query={{ ...query, covers: query.covers }} />}
      />
      <Dialog title="Create a statement" isOpen={making.isOpen} onClose={making.close}>
        <Making
          email={get('creator_email')}
          onClose={making.close}
          onMade={(one) => {
            making.close();
            setCreatedStatement(one);
          }}
        />
      </Dialog>
      <Dialog
        title="Statements for everybody"
        hint="One for each creator who earned or was paid in the period, or is owed something at its end."
        isOpen={makingAll.isOpen}
        onClose={makingAll.close}
      >
        {makingAll.isOpen && <MakingAll onClose={makingAll.close} />}
      </Dialog>
      <Dialog
        title="Statement created"
        hint="Anyone with this address can open the page for 90 days. Open the statement to copy it again."
        isOpen={createdStatement !== undefined}
        onClose={() => setCreatedStatement(undefined)}
      >
        <code className="secret">{createdStatement?.url}</code>
        {createdStatement?.email_sent && <p>It is being emailed to the creator.</p>}
        <div className="popup-foot">
          <Copy text={createdStatement?.url ?? ''} label="Copy the address" />
          <a className="button plain" href={createdStatement?.url} target="_blank" rel="noreferrer">
            Open the page
          </a>
        </div>
      </Dialog>
      <StatementDialog id={panel.id} onClose={panel.close} />
    </>
  );
}
