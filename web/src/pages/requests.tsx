import { operations } from 'virtual:operations';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useAll, useCall } from '../call/use.ts';
import { useCursor } from '../kit/cursor.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { Filters, useFilters } from '../kit/filters.tsx';
import { counted, day, exactTime, exactTimeOfDay, number, words } from '../kit/format.ts';
import { Copy, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, PlainTable } from '../kit/table.tsx';
import { BusiestKeys, KeyCalls, KeySearches, type Masked, useCallCount } from './key-calls.tsx';

type KeyRequest = Row<'list_requests'>;

const STATUSES = [
  ['2xx', 'Succeeded'],
  ['4xx', 'Refused (4xx)'],
  ['402', 'Out of credits (402)'],
  ['422', 'Invalid (422)'],
  ['429', 'Too many calls (429)'],
  ['5xx', 'Failed (5xx)'],
] as const;

const pickTone = (status: number) => (status < 400 ? 'quiet' : status < 500 ? 'wait' : 'bad');
const getKey = ({ request_id, at, ms }: KeyRequest) => `${request_id} ${at} ${ms}`;
const nameOperation = ({ operation }: KeyRequest) => (operation === null ? 'Unknown path' : words(operation));

/** The method and path of an operation. Of a call to another path, the record does not have it. */
function formatOperation({ operation }: KeyRequest): string {
  const [method, path] = operations[operation ?? ''] ?? [];
  return method === undefined ? 'No operation has this path' : `${method} ${path}`;
}

interface RequestView {
  masked: Masked;
  /** False if none of the calls cost any. */
  hasCredits: boolean;
  open: (row: KeyRequest) => void;
}

const CREDITS: Column<KeyRequest> = {
  head: 'Credits',
  cell: ({ credits }) => number(credits),
  isNumber: true,
  isWide: true,
};

function buildColumns({ masked, hasCredits, open }: RequestView): readonly Column<KeyRequest>[] {
  return [
    {
      head: 'Operation',
      cell: (row) => (
        <Opener
          onOpen={() => open(row)}
          second={
            <>
              <span className="one-line">{formatOperation(row)}</span>
              <span className="narrow unbroken">{exactTimeOfDay(row.at)}</span>
            </>
          }
        >
          {nameOperation(row)}
        </Opener>
      ),
    },
    {
      head: 'Called',
      cell: ({ at }) => (
        <time dateTime={at} title={exactTime(at)}>
          {exactTimeOfDay(at)}
        </time>
      ),
      isWide: true,
    },
    {
      head: 'Key',
      cell: ({ key_name, key_id }) => (
        <>
          {key_name ?? key_id}
          <span className="second">{masked.get(key_id)}</span>
        </>
      ),
      isWide: true,
    },
    {
      head: 'Status',
      cell: ({ status, code }) => (
        <>
          <span className={`badge ${pickTone(status)}`}>{status}</span>
          {code !== null && <span className="second">{words(code.toLowerCase())}</span>}
        </>
      ),
    },
    { head: 'Matches', cell: ({ results }) => number(results), isNumber: true, isWide: true },
    ...(hasCredits ? [CREDITS] : []),
    { head: 'Duration', cell: ({ ms }) => `${number(Math.round(ms))} ms`, isNumber: true, isWide: true },
  ];
}

type RequestsQuery = Record<'key' | 'operation' | 'status' | 'request_id' | 'from' | 'to', string | undefined>;

/** The rows of a page, and of how many; the record of calls by day has no other filters than key and status. */
function useCountText({ key, status, ...others }: RequestsQuery, rows: number, isPart: boolean): string {
  const all = useCallCount(key, status);
  if (!isPart) return counted(rows, 'request');
  const isKnown = all !== undefined && all >= rows && Object.values(others).every((one) => one === undefined);
  return isKnown ? `${number(rows)} of ${counted(all, 'request')}` : `${counted(rows, 'request')} on this page`;
}

/** Newest first, a hundred at a time. */
function Pages({ query, masked }: { query: RequestsQuery; masked: Masked }) {
  const { after, pager } = useCursor();
  const [openRequest, setOpenRequest] = useState<KeyRequest>();
  const { data, error, refetch } = useCall('list_requests', { query: { ...query, after } });
  const isPart = after !== undefined || data?.next_after != null;
  const count = useCountText(query, data?.data.length ?? 0, isPart);
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={8} />;
  if (data.data.length === 0 && after === undefined)
    return (
      <Empty title="No calls yet">
        Call the API with one of your <Link to="/keys">keys</Link>: the <a href="/docs">reference</a> has an example of
        each operation. Calls appear here within seconds, and stay for 14 days.
      </Empty>
    );
  return (
    <>
      <PlainTable
        caption="API requests"
        rows={data.data}
        getKey={getKey}
        columns={buildColumns({
          masked,
          hasCredits: data.data.some(({ credits }) => credits > 0),
          open: setOpenRequest,
        })}
        count={count}
        heading={({ at }) => day(at)}
      />
      {pager(data.next_after)}
      <Dialog
        title={openRequest ? nameOperation(openRequest) : ''}
        isOpen={openRequest !== undefined}
        onClose={() => setOpenRequest(undefined)}
        isSide
      >
        {openRequest && <Details of={openRequest} />}
      </Dialog>
    </>
  );
}

/** A line for a message to support, such as "req_…: 422 VALIDATION_ERROR, GET /v1/creators/search, 2026-…". */
const copyText = (of: KeyRequest) =>
  [`${of.request_id}: ${[of.status, of.code].filter(Boolean).join(' ')}`, formatOperation(of), of.at].join(', ');

function Details({ of }: { of: KeyRequest }) {
  const { search } = of;
  return (
    <>
      <Facts
        of={[
          [
            'Status',
            <span key="status">
              <span className={`badge ${pickTone(of.status)}`}>{of.status}</span> {of.code}
            </span>,
          ],
          ['Request ID', <code key="id">{of.request_id}</code>],
          [
            'Operation',
            of.operation === null ? 'None: the path is not one of the API, and is not recorded.' : formatOperation(of),
          ],
          [
            'Called',
            <time key="called" dateTime={of.at}>
              {exactTime(of.at)}
              <span className="second">{of.at}</span>
            </time>,
          ],
          [
            'Key',
            <Link key="key" to="/requests" search={{ key: of.key_id }}>
              {of.key_name ?? of.key_id}
            </Link>,
          ],
          ['Credits', of.credits > 0 && number(of.credits)],
          ['Duration', `${number(Math.round(of.ms))} ms`],
          ['Matches, on all pages', of.results !== null && number(of.results)],
          ['Search', search && words(search.kind)],
          ['Filters', search && (search.filters.join(', ') || 'None')],
          ['Fingerprint', search && <code key="fingerprint">{search.fingerprint}</code>],
        ]}
      />
      <p className="hint">The values of parameters and the body of a call are not kept.</p>
      <div className="row">
        <Copy text={of.request_id} label="Copy request ID" shown="Copy request ID" />
        <Copy text={copyText(of)} label="Copy for support: ID, status, path and time" shown="Copy for support" />
      </div>
    </>
  );
}

export function Requests() {
  const { get } = useFilters();
  const keys = useAll('list_keys', {});
  const maskedKeys = new Map(keys.data?.map((key) => [key.id, key.masked]));
  const query: RequestsQuery = {
    key: get('key'),
    operation: get('operation'),
    status: get('status'),
    request_id: get('request_id'),
    from: get('from'),
    to: get('to'),
  };
  return (
    <>
      <PageHead title="API requests" hint="Calls made with your keys in the last 14 days, without the search terms.">
        <Download id="list_requests" query={query} name="requests.csv" />
      </PageHead>
      <Filters
        of={[
          {
            name: 'key',
            label: 'Key',
            kind: 'select',
            options: (keys.data ?? []).map(({ id, name, masked }, _, all) => [
              id,
              all.some((other) => other.id !== id && other.name === name) ? `${name} ${masked}` : name,
            ]),
          },
          { name: 'status', label: 'Status', kind: 'select', options: STATUSES },
          { name: 'operation', label: 'Operation', kind: 'text' },
        ]}
        more={[
          { name: 'request_id', label: 'Request ID', kind: 'text' },
          { name: 'from', label: 'From', kind: 'date' },
          { name: 'to', label: 'To', kind: 'date' },
        ]}
      />
      <KeyCalls keyId={query.key} />
      <Pages key={JSON.stringify(query)} query={query} masked={maskedKeys} />
      {query.key === undefined && <BusiestKeys masked={maskedKeys} />}
      <KeySearches />
    </>
  );
}
