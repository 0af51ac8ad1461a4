import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { listEnum } from '../kit/every.ts';
import { FormDialog } from '../kit/form.tsx';
import { ago, bytes, day, time, words } from '../kit/format.ts';
import { CancelJob, isUnderWay, type Job, JobProgress } from '../kit/job.tsx';
import { Badge, Button, Card, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';

type Schedule = Row<'list_export_schedules'>;
type Format = Schedule['format'];

const OF = listEnum<Schedule['of']>()([
  'orders',
  'clicks',
  'commissions',
  'ledger',
  'performance',
  'roster',
  'content',
]);
const BY = ['recorded', 'date'] as const;
const FORMATS = listEnum<Format>()(['parquet', 'csv', 'ndjson']);

const OF_OPTIONS = OF.map((of) => [of, words(of)] as const);
const FORMAT_OPTIONS: readonly (readonly [Format, string])[] = [
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
  ['ndjson', 'JSON, one object a line'],
];
const FORMAT_NAMES: ReadonlyMap<string, string> = new Map([
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
  ['ndjson', 'JSON'],
]);
const REFETCH_MS = 4_000;

const getText = (request: Job['request'], name: string): string => {
  const value = request[name];
  return typeof value === 'string' ? value : '';
};

const isMidnight = (at: string) => at.endsWith('T00:00:00.000Z');

/** The window of an export: its days, if it has whole ones. */
function formatPeriod(from: string, until: string): string {
  if (!isMidnight(until) || (from !== '' && !isMidnight(from))) {
    return from === '' ? `until ${time(until)}` : `${time(from)} to ${time(until)}`;
  }
  const [first, last] = [from.slice(0, 10), new Date(Date.parse(until) - 1).toISOString().slice(0, 10)];
  return first === '' ? `until ${day(last)}` : `${day(first)} to ${day(last)}`;
}

/** Describes the content of an export in words. */
function Request({ of: { request } }: { of: Job }) {
  const [from, until] = [getText(request, 'from'), getText(request, 'until')];
  const format = getText(request, 'format');
  return (
    <>
      {words(getText(request, 'of'))}
      <span className="second">
        {FORMAT_NAMES.get(format) ?? format}
        {until && `, ${formatPeriod(from, until)}`}
      </span>
    </>
  );
}

function Files({ of: { files } }: { of: Job }) {
  return (
    <ul className="files">
      {files.map(({ number: place, name, url, size_bytes }) => (
        <li key={place}>
          {url === null ? name : <a href={url}>{name}</a>} <span className="small muted">{bytes(size_bytes)}</span>
        </li>
      ))}
    </ul>
  );
}

function Jobs() {
  const list = useRows('list_jobs', { kind: 'export' }, { refetchMs: REFETCH_MS });
  const columns: readonly Column<Job>[] = [
    { head: 'Export', cell: (job) => <Request of={job} /> },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Written', cell: (job) => <JobProgress of={job} />, isWide: true },
    { head: 'Files', cell: (job) => <Files of={job} /> },
    {
      head: 'Available until',
      cell: ({ files_end_at, schedule_id }) => (schedule_id === null ? day(files_end_at) : 'In your bucket'),
      isWide: true,
    },
    {
      head: 'Actions',
      needs: 'cancel_job',
      cell: (job) =>
        isUnderWay(job) && (
          <CancelJob of={job} noun="export">
            The files that it has written are removed.
          </CancelJob>
        ),
    },
  ];
  return (
    <Table
      caption="Exports"
      list={list}
      columns={columns}
      usually={3}
      empty={
        <Empty title="No exports yet">
          Orders, clicks, commissions or the ledger of any period, as Parquet, NDJSON or CSV.
        </Empty>
      }
    />
  );
}

function Schedules({ onSchedule }: { onSchedule: () => void }) {
  const list = useRows('list_export_schedules', {});
  const end = useChange('delete_export_schedule', ['list_export_schedules']);
  const columns: readonly Column<Schedule>[] = [
    { head: 'Daily export', cell: ({ of }) => words(of) },
    {
      head: 'Bucket',
      cell: ({ bucket, prefix }) => (
        <code>
          {bucket}/{prefix}
        </code>
      ),
    },
    {
      head: 'Status',
      cell: ({ failing_since, last_error }) => (
        <>
          <Badge state={failing_since === null ? 'active' : 'failed'} />
          {last_error !== null && <span className="second">{last_error}</span>}
        </>
      ),
    },
    { head: 'Delivered until', cell: ({ until_at }) => time(until_at), isWide: true },
    { head: 'Next', cell: ({ next_at }) => time(next_at), isWide: true },
    { head: 'Created', cell: ({ created_at }) => ago(created_at), isWide: true },
    {
      head: 'Actions',
      needs: 'delete_export_schedule',
      cell: ({ id, of, bucket }) => (
        <Confirm
          needs="delete_export_schedule"
          label="End"
          title={`End the daily export of ${words(of)}?`}
          action="End it"
          onConfirm={() => end.mutateAsync({ params: { id } })}
        >
          <p>What is in {bucket} stays there. Its keys are forgotten here.</p>
        </Confirm>
      ),
    },
  ];
  const schedule = (
    <Button needs="create_export" onPress={onSchedule}>
      Schedule a daily export
    </Button>
  );
  return (
    <Card title="Daily exports into your bucket" action={list.rows.length > 0 && schedule}>
      <Table
        caption="Daily exports"
        list={list}
        columns={columns}
        usually={3}
        empty={
          <Empty title="None yet">
            <div className="stack">
              <p>Each night, new rows go to your own S3 bucket, from where a warehouse loads them.</p>
              {schedule}
            </div>
          </Empty>
        }
      />
    </Card>
  );
}

/** Files for the warehouse: what is exported now, and daily into the brand's own bucket. */
export function Exports() {
  const make = useChange('create_export', ['list_jobs', 'list_export_schedules']);
  const [opened, setOpened] = useState<'once' | 'daily'>();
  const close = () => setOpened(undefined);
  const what = [
    { name: 'of', label: 'What', kind: 'select', isRequired: true, options: OF_OPTIONS },
    { name: 'format', label: 'Format', kind: 'select', isRequired: true, options: FORMAT_OPTIONS },
  ] as const;
  return (
    <>
      <PageHead title="Exports" hint="Files for your warehouse or a spreadsheet. They can be downloaded for 7 days.">
        <Button needs="create_export" kind="primary" onPress={() => setOpened('once')}>
          New export
        </Button>
      </PageHead>
      <Jobs />
      <Schedules onSchedule={() => setOpened('daily')} />
      <FormDialog
        title="New export"
        hint="The manifest has the SHA-256 of each file."
        isOpen={opened === 'once'}
        onClose={close}
        action="Start the export"
        fields={[
          ...what,
          {
            name: 'by',
            label: 'Rows by',
            kind: 'select',
            isRequired: true,
            options: [
              ['date', 'When they happened'],
              ['recorded', 'When they were recorded: each row is in one export'],
            ],
          },
          { name: 'from', label: 'From', kind: 'date' },
          { name: 'to', label: 'To', kind: 'date' },
        ]}
        onSubmit={async (values) => {
          await make.mutateAsync({
            body: {
              of: values.choice('of', OF),
              format: values.choice('format', FORMATS),
              by: values.choice('by', BY),
              from: values.some('from'),
              to: values.some('to'),
            },
          });
          close();
        }}
      />
      <FormDialog
        title="Schedule a daily export"
        hint="First everything that was recorded so far, then what is new, each day after midnight UTC. The bucket is checked now."
        isOpen={opened === 'daily'}
        onClose={close}
        action="Check the bucket and start"
        fields={[
          ...what,
          { name: 'bucket', label: 'Bucket', isRequired: true },
          { name: 'prefix', label: 'Folder in the bucket' },
          { name: 'region', label: 'Region', isRequired: true, hint: 'Such as eu-central-1.' },
          { name: 'endpoint', label: 'Endpoint', kind: 'url', hint: 'Only for a storage other than AWS.' },
          { name: 'access_key_id', label: 'Access key id', isRequired: true },
          { name: 'secret_access_key', label: 'Secret access key', kind: 'password', isRequired: true },
        ]}
        onSubmit={async (values) => {
          await make.mutateAsync({
            body: {
              of: values.choice('of', OF),
              format: values.choice('format', FORMATS),
              schedule: 'daily',
              destination: {
                bucket: values.text('bucket'),
                prefix: values.some('prefix'),
                region: values.text('region'),
                endpoint: values.some('endpoint'),
                access_key_id: values.text('access_key_id'),
                secret_access_key: values.text('secret_access_key'),
              },
            },
          });
          close();
        }}
      />
    </>
  );
}
