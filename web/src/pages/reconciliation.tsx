import { Link } from '@tanstack/react-router';
import { useAll, useCall, useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { findChoice, useFilters } from '../kit/filters.tsx';
import { ago, counted, number, time } from '../kit/format.ts';
import { FollowedJob, type Job } from '../kit/job.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Badge, Button, Card, Empty, Facts, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { type Column, Opener, PlainTable, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { CreatorName } from './item-links.tsx';
import {
  amountText,
  countDifferences,
  type Difference,
  FINDINGS,
  type Finding,
  isAtRisk,
  isComparable,
  isFound,
  KINDS,
  type ReconciliationSummary,
  sumDifferences,
} from './reconciliation-findings.ts';
import { CompareDialog } from './reconciliation-new.tsx';

/** The meanings of a file's columns in words. */
const ROLES = [
  ['order_id', 'Order ID'],
  ['order_number', 'Order number'],
  ['currency', 'Currency'],
  ['amount', 'Goods after discounts'],
  ['discount', 'Discount'],
  ['total', 'Total'],
  ['shipping', 'Shipping'],
  ['taxes', 'Taxes'],
  ['fees', 'Fees'],
  ['refunded', 'Refunded'],
  ['cancelled_at', 'Cancelled at'],
  ['status', 'Status'],
] as const;

interface AmountProps {
  of: string | null;
  refunded: string | null;
  currency: string | null;
  isCancelled?: boolean;
}

function Amount({ of, refunded, currency, isCancelled = false }: AmountProps) {
  if (of === null) return <>–</>;
  return (
    <>
      {amountText(of, currency)}
      {isCancelled && <span className="second refunded">cancelled</span>}
      {!isCancelled && Number(refunded ?? 0) > 0 && (
        <span className="second refunded">{amountText(refunded ?? '', currency)} refunded</span>
      )}
    </>
  );
}

interface SumProps {
  of: string | undefined;
  refunded: string | undefined;
  /** The word for what is deducted. */
  word?: string;
}

/** The sum of a group after refunds, which stand below it: a bare zero would not say why. */
const Sum = ({ of, refunded, word = 'refunded' }: SumProps) => (
  <>
    {of ?? '–'}
    {refunded !== undefined && (
      <span className="second">
        {refunded} {word}
      </span>
    )}
  </>
);

const COLUMNS: readonly Column<Difference>[] = [
  {
    head: 'Order',
    cell: ({ finding, order_id }) =>
      finding === 'missing_here' ? (
        order_id
      ) : (
        <Link to="/orders" search={{ open: order_id }}>
          {order_id}
        </Link>
      ),
  },
  {
    head: 'Here',
    isNumber: true,
    chip: 'named',
    cell: (row) => <Amount of={row.amount_here} refunded={row.refunded_here} currency={row.currency_here} />,
  },
  {
    head: 'At the store',
    isNumber: true,
    chip: 'named',
    cell: (row) => (
      <Amount
        of={row.amount_there}
        refunded={row.refunded_there}
        currency={row.currency_there}
        isCancelled={row.finding === 'cancelled_but_paid'}
      />
    ),
  },
  {
    head: 'Commission',
    isWide: true,
    cell: ({ commission, commission_status: status, currency_here: currency, creator_email: email }) =>
      commission !== null && (
        <>
          {amountText(commission, currency)} {status !== null && <Badge state={status} />}
          {email !== null && (
            <span className="second">
              <CreatorName of={{ creator_email: email }} />
            </span>
          )}
        </>
      ),
  },
  {
    head: 'Actions',
    cell: ({ order_id, commission }) =>
      commission !== null && (
        <span className="row">
          <Link to="/commissions" search={{ order_id }} className="button" aria-label="Open commission">
            Open
          </Link>
        </span>
      ),
  },
];

/** Offers to read the store again, which repairs what it lists differently. */
function Repair({ id, of }: { id: string; of: ReconciliationSummary }) {
  const { data } = useCall('get_plan', { params: { id } });
  const apply = useChange('apply_plan', ['get_plan', 'list_plans']);
  const say = useSay();
  const status = data?.data.status;
  if (status === 'applied')
    return <p className="note-box">The store is being read again. Compare once more in a few minutes.</p>;
  if (status !== 'open') return null;
  return (
    <div>
      <Confirm
        needs="apply_plan"
        label="Read the store again"
        title={`Read the orders of ${of.store} again?`}
        action="Read the store again"
        isDanger={false}
        onConfirm={async () => {
          await apply.mutateAsync({ params: { id }, body: {} });
          say('The store is being read again.');
        }}
      >
        <p>
          What the store lists is recorded as its webhooks would have reported it: missing orders, amounts, refunds and
          cancellations. It goes 60 days back, and takes a few minutes.
        </p>
      </Confirm>
    </div>
  );
}

/** The answer that a finance person looks for first: how much does not agree, and what it costs. */
function Headline({ of: result }: { of: ReconciliationSummary }) {
  const count = countDifferences(result);
  const comparable = result.differences.filter(isComparable);
  const { here, there, change } = sumDifferences(comparable);
  const { commission } = sumDifferences(result.differences);
  const compared = result.matched + count;
  return (
    <Stats>
      <Stat
        label="Differences"
        value={number(count)}
        note={count === 0 ? 'every order matches' : `${number(result.matched)} of ${counted(compared, 'order')} match`}
      />
      <Stat label="Here" value={here ?? '–'} note={`after refunds, of ${counted(comparable.length, 'order')}`} />
      <Stat label="At the store" value={there ?? '–'} note={change ?? 'as much as here'} />
      <Stat
        label="Commission to check"
        value={commission ?? 'None'}
        note={commission === undefined ? 'of these orders' : 'of these orders, before you pay it'}
      />
    </Stats>
  );
}

interface GroupsProps {
  of: ReconciliationSummary;
  chosen: Finding | undefined;
  onChoose: (kind: Finding | undefined) => void;
}

/** A line for each kind of difference with its sums and the next step. Its button unfolds its orders. */
function Groups({ of: result, chosen, onChoose }: GroupsProps) {
  const rows = FINDINGS.filter(([kind]) => result[kind] > 0).map(([kind, label, step]) => ({
    kind,
    label,
    step,
    differences: result.differences.filter(({ finding }) => finding === kind),
  }));
  const groups = rows.map((row) => ({ ...row, ...sumDifferences(row.differences) }));
  return (
    <PlainTable
      caption="Differences by kind"
      rows={groups}
      getKey={({ kind }) => kind}
      below={({ kind, label, differences }) =>
        chosen === kind && (
          <>
            <PlainTable
              caption={label}
              rows={differences}
              columns={COLUMNS}
              getKey={(row) => `${row.finding} ${row.order_id}`}
            />
            {differences.length < result[kind] && (
              <p className="hint">{`The first ${number(differences.length)} of ${number(result[kind])}. The files have all.`}</p>
            )}
          </>
        )
      }
      columns={[
        {
          head: 'Difference',
          cell: ({ kind, label, step }) => (
            <>
              <span className={isAtRisk(kind) ? 'badge bad wraps' : 'badge wait wraps'}>{label}</span>
              <span className="second">{step}</span>
            </>
          ),
        },
        {
          head: 'Here',
          isNumber: true,
          isWide: true,
          cell: ({ here, refundedHere }) => <Sum of={here} refunded={refundedHere} />,
        },
        {
          head: 'At the store',
          isNumber: true,
          isWide: true,
          cell: ({ kind, there, refundedThere }) => (
            <Sum of={there} refunded={refundedThere} word={kind === 'cancelled_but_paid' ? 'cancelled' : 'refunded'} />
          ),
        },
        { head: 'Commission', isNumber: true, isWide: true, cell: ({ commission }) => commission ?? '–' },
        {
          head: 'Orders',
          isNumber: true,
          cell: ({ kind, label }) => (
            <Button
              isExpanded={chosen === kind}
              label={`${counted(result[kind], 'order')}: ${label}`}
              onPress={() => onChoose(chosen === kind ? undefined : kind)}
            >
              {counted(result[kind], 'order')} {chosen === kind ? '▴' : '▾'}
            </Button>
          ),
        },
      ]}
    />
  );
}

function Differences({ of: { result, files } }: { of: Job }) {
  const { get, set } = useFilters();
  if (!isFound(result)) return null;
  const { columns, from, until, plan_id: plan } = result;
  return (
    <div className="stack">
      <p className="hint">
        {from === null || until === null ? 'All orders of the file.' : `Orders from ${time(from)} to ${time(until)}.`}
      </p>
      <Headline of={result} />
      {plan !== null && <Repair id={plan} of={result} />}
      {result.differences.length === 0 ? (
        <Empty title="No differences">Every order matches: its commissions can be paid.</Empty>
      ) : (
        <Groups
          of={result}
          chosen={findChoice(get('finding'), KINDS)}
          onChoose={(kind) => set('finding', kind ?? '')}
        />
      )}
      <Files of={files} />
      {columns !== null && (
        <details>
          <summary>File columns</summary>
          <Facts of={ROLES.map(([role, label]) => [label, columns[role]])} />
        </details>
      )}
    </div>
  );
}

/** The rows of all differences, in one file or several, and the file that was compared. */
function Files({ of }: { of: Job['files'] }) {
  const parts = of.filter(({ name }) => name.startsWith('differences-'));
  const label = (name: string) => {
    const part = parts.findIndex((one) => one.name === name) + 1;
    if (part === 0) return `Download ${name}`;
    return parts.length === 1 ? 'Download differences' : `Download differences, part ${part}`;
  };
  return (
    <div className="row">
      {[...parts, ...of.filter((one) => !parts.includes(one))].map(
        ({ number: place, name, url }) =>
          url !== null && (
            <a key={place} className="button" href={url}>
              {label(name)}
            </a>
          ),
      )}
    </div>
  );
}

const toText = (value: unknown) => (typeof value === 'string' ? value : '');

/** The file or the period that was compared. */
function describeSource({ request }: Job): string {
  if (toText(request.file) !== '') return toText(request.file);
  return `${time(toText(request.from))} to ${time(toText(request.until))}`;
}

/** The outcome of a comparison; green only says that no difference is left. */
function Outcome({ of: { status, result } }: { of: Job }) {
  if (status !== 'done' || !isFound(result)) return <Badge state={status} />;
  const count = countDifferences(result);
  return count === 0 ? (
    <span className="badge good">No differences</span>
  ) : (
    <span className="badge wait">{counted(count, 'difference')}</span>
  );
}

function Comparisons({ onOpen, getStoreName }: { onOpen: (id: string) => void; getStoreName: (id: string) => string }) {
  const list = useRows('list_jobs', { kind: 'reconciliation' });
  const columns: readonly Column<Job>[] = [
    {
      head: 'Compared with',
      cell: (job) => (
        <Opener onOpen={() => onOpen(job.id)} second={getStoreName(toText(job.request.integration_id))}>
          {toText(job.request.file) === '' ? (
            describeSource(job)
          ) : (
            <span className="file-name">{describeSource(job)}</span>
          )}
        </Opener>
      ),
    },
    { head: 'Status', cell: (job) => <Outcome of={job} /> },
    {
      head: 'Matched',
      isNumber: true,
      isWide: true,
      cell: ({ result }) => (isFound(result) ? number(result.matched) : '–'),
    },
    {
      head: 'Commission to check',
      isNumber: true,
      isWide: true,
      cell: ({ result }) => (isFound(result) && sumDifferences(result.differences).commission) || '–',
    },
    { head: 'Started', isWide: true, cell: ({ created_at }) => ago(created_at) },
  ];
  return (
    <Table
      caption="Comparisons"
      noun="comparison"
      list={list}
      columns={columns}
      empty={
        <Empty title="No comparisons yet">
          Upload the store’s export of a month’s orders before you pay its commissions.
        </Empty>
      }
    />
  );
}

interface ComparedProps {
  id: string;
  getStoreName: (store: string) => string;
}

/** The page of one comparison, under the name of what was compared. */
function Compared({ id, getStoreName }: ComparedProps) {
  const job = useCall('get_job', { params: { id } }).data?.data;
  const isRead = job?.id === id;
  return (
    <>
      <PageHead
        title={isRead ? describeSource(job) : 'Comparison'}
        hint={isRead && getStoreName(toText(job.request.integration_id))}
      >
        <Link to="/reconciliation" search={{}} className="button plain">
          All comparisons
        </Link>
      </PageHead>
      <Card>
        <FollowedJob id={id} noun="comparison" done={(one) => <Differences of={one} />} />
      </Card>
    </>
  );
}

/** Compares a store's orders with ours, before a month's commissions are paid. */
export function Reconciliation() {
  const { id, open } = useOpened();
  const dialog = useDialog('compare');
  const stores = useAll('list_affiliate_stores', {}).data ?? [];
  const getStoreName = (store: string) => stores.find(({ id: one }) => one === store)?.name ?? '';
  if (id !== undefined) return <Compared id={id} getStoreName={getStoreName} />;
  return (
    <>
      <PageHead title="Reconciliation" hint="Compare a store’s orders with ours before you pay a month’s commissions.">
        <Button needs="create_reconciliation" kind="primary" onPress={dialog.open}>
          New comparison
        </Button>
      </PageHead>
      <Comparisons onOpen={open} getStoreName={getStoreName} />
      <CompareDialog stores={stores} isOpen={dialog.isOpen} onClose={dialog.close} onStarted={open} />
    </>
  );
}
