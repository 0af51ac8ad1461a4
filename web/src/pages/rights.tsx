import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call, type Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { creatorName } from '../kit/creator-name.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { saveJson } from '../kit/download.tsx';
import { Filters, findChoice, useFilters, waitingSortIn } from '../kit/filters.tsx';
import { counted, day, isoDay, money, number, today, words } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Empty, Facts, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, PlainTable, Table } from '../kit/table.tsx';
import { BothTimes } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { DAY_MS } from '../kit/utc-day.ts';
import { CreatorLink } from './item-links.tsx';

type Request = Row<'list_data_requests'>;
type Books = Answer<'open_data_request_books'>['data'];

const STATES = listChoices('list_data_requests', 'state');
const KINDS = listChoices('list_data_requests', 'kind');
const SHOWN = ['list_data_requests', 'get_data_request', 'list_roster', 'list_creators'] as const;

const KIND_WORDS: Readonly<Record<Request['kind'], string>> = { erasure: 'Erasure', access: 'Export' };
const SOURCE_WORDS: Readonly<Record<Request['source'], string>> = {
  api: 'Your brand',
  page: 'The creator, on their own page',
  cli: 'The operator',
  shopify: 'Shopify',
  woocommerce: 'WooCommerce',
};

/** From this number on, the days that the law leaves are few. */
const FEW_DAYS = 7;

/** The day that a request is due, and the days until then. */
function DaysLeft({ until }: { until: string }) {
  const days = Math.round((Date.parse(isoDay(Date.parse(until))) - Date.parse(today())) / DAY_MS);
  return (
    <>
      {day(until)}{' '}
      {days < 0 ? (
        <span className="badge bad">Overdue</span>
      ) : (
        <span className={days <= FEW_DAYS ? 'badge wait' : 'muted small'}>
          {days === 0 ? 'today' : `${counted(days, 'day')} left`}
        </span>
      )}
    </>
  );
}

/** The creator whom a request is about, until they are erased. */
function useSubject(request: Request | undefined) {
  const id = request?.creator_id ?? '';
  const isErased = request?.kind === 'erasure' && request.state === 'done';
  const { data } = useCall('get_roster_creator', { params: { id } }, { enabled: id !== '' && !isErased });
  return isErased || id === '' ? undefined : data?.data;
}

/** A request with its person, such as "Erasure of Ana Ortiz". */
function useRequestName(request: Request | undefined): string {
  const creator = useSubject(request);
  if (request === undefined) return 'Request';
  const name = creator ? creatorName(creator) : `a ${request.subject}`;
  return `${KIND_WORDS[request.kind]} of ${name}`;
}

const RequestName = ({ of }: { of: Request }) => useRequestName(of);

/** Leads to the creator whom a request is about, while they are known; then it shows their pseudonym. */
function Subject({ of }: { of: Request }) {
  const creator = useSubject(of);
  const { creator_id: id, subject } = of;
  if (id === null) return subject === 'customer' ? 'A customer' : 'Nobody whom you know';
  return creator ? <CreatorLink id={id}>{creatorName(creator)}</CreatorLink> : <code className="small">{id}</code>;
}

/** The creator's commissions that are not paid yet, such as `$120.00 + €40.00`; undefined until they are known. */
function useUnpaid(request: Request): string | undefined {
  const id = useSubject(request)?.id ?? '';
  const { data } = useCall('get_creator_balance', { params: { id } }, { enabled: id !== '' });
  return data?.data.by_currency
    .map((one) => ({ ...one, unpaid: one.pending + one.held + one.order_unpaid + one.approved }))
    .filter(({ unpaid }) => unpaid !== 0)
    .map(({ unpaid, currency }) => money(unpaid, currency))
    .join(' + ');
}

/** Erases, or says no with a reason. */
function Decide({ of }: { of: Request }) {
  const { id } = of;
  const unpaid = useUnpaid(of);
  const [isRefusing, setRefusing] = useState(false);
  const carryOut = useChange('carry_out_data_request', SHOWN);
  const erase = (forfeit: boolean) => carryOut.mutateAsync({ params: { id }, body: { forfeit } });
  return (
    <div className="choosing">
      <Confirm
        needs="carry_out_data_request"
        label="Erase"
        title="Erase this creator?"
        action="Erase for good"
        onConfirm={() => erase(false)}
      >
        <p>Everything that names them goes; amounts and figures stay under a pseudonym. It cannot be undone.</p>
        <p>If money is due to them, pay it first.</p>
      </Confirm>
      <p>
        Their name, addresses, messages and files go; amounts stay under a pseudonym.{' '}
        {unpaid ? <strong>{unpaid} is not paid yet: pay it first.</strong> : unpaid === '' && 'Nothing is due to them.'}
      </p>
      {unpaid !== '' && (
        <>
          <Confirm
            needs="carry_out_data_request"
            label="Erase, and reject what is due"
            title="Erase this creator, and reject what is due?"
            action="Erase and reject"
            onConfirm={() => erase(true)}
          >
            <p>Commissions that are not paid yet are rejected, and the creator is erased. It cannot be undone.</p>
          </Confirm>
          <p>The same, and {unpaid ?? 'what is due to them'} is rejected and never paid.</p>
        </>
      )}
      <Button needs="refuse_data_request" onPress={() => setRefusing(true)}>
        Refuse
      </Button>
      <p>Nothing is erased. The creator gets your reason by email.</p>
      <OperationDialog
        operation="refuse_data_request"
        title="Refuse this request"
        hint="The law allows it for a few reasons, such as a claim that is open in court. The creator gets your words by email."
        isOpen={isRefusing}
        onClose={() => setRefusing(false)}
        action="Refuse"
        params={{ id }}
        fields={[{ name: 'reason', label: 'Why', kind: 'textarea' }]}
        shown={SHOWN}
        onDone={() => setRefusing(false)}
      />
    </div>
  );
}

/** Tables whose names say little to an owner. */
const ROW_NAMES = new Map([
  ['outbox', 'Events'],
  ['job_files', 'Files of exports'],
  ['idempotency_keys', 'Stored answers'],
  ['store_deliveries', 'Webhooks of stores'],
]);

function ShownBooks({ of: { contracts, payment_addresses, ...facts } }: { of: Books }) {
  return (
    <>
      <Facts
        of={[
          ['Name', facts.name],
          ['Email', facts.email],
          ['Paid as', facts.legal_name],
          ['Country', facts.country],
          ['Paid at', payment_addresses.join(', ')],
        ]}
      />
      {contracts.map(({ id, title, document, signer_name, signed_at }) => (
        <details key={id}>
          <summary>
            {title}, signed by {signer_name ?? 'them'} on {day(signed_at)}
          </summary>
          <pre className="document">{document}</pre>
        </details>
      ))}
    </>
  );
}

/** The record for the books, which opens with a reason. */
function KeptBooks({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  const [books, setBooks] = useState<Books>();
  if (books) return <ShownBooks of={books} />;
  return (
    <>
      <Button needs="open_data_request_books" onPress={() => setOpen(true)}>
        Open what the books keep
      </Button>
      <OperationDialog
        operation="open_data_request_books"
        title="Open what the books keep"
        hint="The audit log keeps who opened it, and why."
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Open"
        params={{ id }}
        fields={[{ name: 'reason', label: 'Why' }]}
        shown={[]}
        onDone={({ data }) => {
          setBooks(data);
          setOpen(false);
        }}
      />
    </>
  );
}

function SaveFile({ id }: { id: string }) {
  const say = useSay();
  const save = () =>
    call('get_data_request_file', { params: { id } }).then(
      (file) => saveJson(file, `${id}.json`),
      () => say('The file has ended: it is kept for seven days.'),
    );
  return (
    <Button needs="create_data_request" onPress={() => void save()}>
      Download the file
    </Button>
  );
}

function Opened({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_data_request', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const request = query.data?.data.id === id ? query.data?.data : undefined;
  const name = useRequestName(request);
  return (
    <Detail id={id} onClose={onClose} query={query} title={() => name}>
      {(one) => (
        <div className="stack">
          <Facts
            of={[
              ['Status', <Badge key="state" state={one.state} />],
              ['Requested by', SOURCE_WORDS[one.source]],
              [one.subject === 'creator' ? 'Creator' : 'Customer', <Subject key="subject" of={one} />],
              ['Requested', <BothTimes key="asked" at={one.created_at} />],
              ['Due', one.finished_at === null && <DaysLeft key="due" until={one.due_at} />],
              ['Finished', one.finished_at && <BothTimes key="finished" at={one.finished_at} />],
              ['Your note', one.reason],
              ['Why you refused', one.refusal],
            ]}
          />
          {one.state === 'open' && <Decide of={one} />}
          {one.state === 'done' && one.kind === 'access' && <SaveFile id={one.id} />}
          {one.books_until !== null && <KeptBooks key={one.id} id={one.id} />}
          {Object.keys(one.removed).length > 0 && (
            <PlainTable
              isTight
              caption={one.kind === 'access' ? 'Rows in the file' : 'Rows that were erased or changed'}
              rows={Object.entries(one.removed)}
              getKey={([table]) => table}
              columns={[
                {
                  head: one.kind === 'access' ? 'In the file' : 'Erased',
                  cell: ([table]) => ROW_NAMES.get(table) ?? words(table),
                },
                { head: 'Rows', cell: ([, count]) => number(count), isNumber: true },
              ]}
            />
          )}
          {one.kept.length > 0 && (
            <>
              <h3>What stays</h3>
              <ul className="points">
                {one.kept.map(({ what, why, until }) => (
                  <li key={what}>
                    {what.slice(0, 1).toUpperCase() + what.slice(1)}
                    {until !== null && `, until ${day(until)}`}
                    <br />
                    <span className="muted">{why}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </Detail>
  );
}

/** The requests that people made by law: to be erased, or to be told what is kept of them. */
export function Rights() {
  const { get } = useFilters();
  const panel = useOpened();
  const list = useRows('list_data_requests', {
    state: findChoice(get('state'), STATES),
    kind: findChoice(get('kind'), KINDS),
    sort: waitingSortIn(get),
  });
  const columns: readonly Column<Request>[] = [
    {
      head: 'Request',
      cell: (one) => (
        <Opener onOpen={() => panel.open(one.id)} second={SOURCE_WORDS[one.source]}>
          <RequestName of={one} />
        </Opener>
      ),
    },
    { head: 'Status', cell: ({ state }) => <Badge state={state} /> },
    { head: 'Due', cell: (one) => (one.finished_at === null ? <DaysLeft until={one.due_at} /> : '–'), chip: 'named' },
    { head: 'Requested', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
    {
      head: 'Actions',
      needs: 'carry_out_data_request',
      cell: ({ id, state }) => state === 'open' && <Button onPress={() => panel.open(id)}>Decide</Button>,
    },
  ];
  return (
    <>
      <PageHead
        title="Privacy requests"
        hint={
          <>
            Requests for erasure, or for a copy of someone’s data. Start one from a <Link to="/roster">creator</Link>,
            an <Link to="/orders">order</Link> or a{' '}
            <Link to="/customers" search={{ view: 'each' }}>
              customer
            </Link>
            .
          </>
        }
      />
      <Filters
        of={[
          { name: 'state', label: 'Status', kind: 'select', options: STATES.map((one) => [one, words(one)]) },
          { name: 'kind', label: 'Kind', kind: 'select', options: KINDS.map((one) => [one, KIND_WORDS[one]]) },
        ]}
      />
      <Table
        caption="Privacy requests"
        noun="request"
        list={list}
        columns={columns}
        empty={<Empty title="Nobody has asked">Requests of creators, customers and stores appear here.</Empty>}
      />
      <Opened id={panel.id} onClose={panel.close} />
    </>
  );
}
