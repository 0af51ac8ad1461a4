import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { ago, bytes, day, isoDay, time, words } from '../kit/format.ts';
import { CancelJob, isUnderWay, type Job, JobProgress } from '../kit/job.tsx';
import { Menu } from '../kit/menu.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Card, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';

type Schedule = Row<'list_export_schedules'>;
const SHOWN = ['list_jobs', 'list_export_schedules'] as const;
const FORMAT_LABELS = { csv: 'CSV', parquet: 'Parquet', ndjson: 'JSON, one object a line' } as const;
const FORMAT_NAMES: ReadonlyMap<string, string> = new Map([
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
  ['ndjson', 'JSON'],
]);
const BY_LABELS = {
  date: 'Date of the order, click or commission',
  recorded: 'Date it was recorded: each row is in one export',
} as const;
const WHAT = [
  { name: 'of', label: 'Data' },
  { name: 'format', labels: FORMAT_LABELS },
] as const;
const REFETCH_MS = 4_000;

const getText = (request: Job['request'], name: string): string => {
  const value = request[name];
  return typeof value === 'string' ? value : '';
};

const isMidnight = (at: string) => isoDay(Date.parse(at)) !== isoDay(Date.parse(at) - 1);

/** The window of an export: its days, if it has whole ones. */
function formatPeriod(from: string, until: string): string {
  if (!isMidnight(until) || (from !== '' && !isMidnight(from))) {
    return from === '' ? `up to ${time(until)}` : `${time(from)} to ${time(until)}`;
  }
  const [first, last] = [from && isoDay(Date.parse(from)), isoDay(Date.parse(until) - 1)];
  return first === '' ? `up to ${day(last)}` : `${day(first)} to ${day(last)}`;
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

/** Describes the files beside it, for programs. */
const MANIFEST = 'manifest.json';

function Files({ of: { files } }: { of: Job }) {
  const dataFiles = files.filter(({ name }) => name !== MANIFEST);
  return (
    <ul className="files">
      {dataFiles.map(({ number: place, name, url, size_bytes }) => (
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
    { head: 'Written', cell: (job) => <JobProgress of={job} />, isNumber: true, isWide: true },
    { head: 'Files', cell: (job) => <Files of={job} /> },
    {
      head: 'Files expire',
      cell: ({ files_end_at, schedule_id }) => (schedule_id === null ? day(files_end_at) : 'In your bucket'),
      isWide: true,
    },
    {
      head: 'Actions',
      needs: 'cancel_job',
      cell: (job) => {
        if (isUnderWay(job)) {
          return (
            <CancelJob of={job} noun="export">
              The files that it has written are removed.
            </CancelJob>
          );
        }
        const manifest = job.files.find(({ name }) => name === MANIFEST)?.url;
        return (
          manifest && (
            <Menu label={`More of ${words(getText(job.request, 'of'))}`}>
              <a className="button" href={manifest}>
                Download the manifest
              </a>
            </Menu>
          )
        );
      },
    },
  ];
  return (
    <Table
      caption="Exports"
      noun="export"
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
    { head: 'Next', cell: ({ next_at }) => time(next_at), chip: 'named' },
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
    <Card title="Daily exports to your bucket" action={list.rows.length > 0 && schedule}>
      <Table
        caption="Daily exports"
        noun="daily export"
        list={list}
        columns={columns}
        usually={3}
        empty={
          <Empty title="None yet">
            <div className="stack">
              <p>Each night, new rows go to your own S3 bucket, where your warehouse can load them.</p>
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
  const [openDialog, setOpenDialog] = useState<'once' | 'daily'>();
  const close = () => setOpenDialog(undefined);
  return (
    <>
      <PageHead title="Exports" hint="Files for your data warehouse or a spreadsheet, available for 7 days.">
        <Button needs="create_export" kind="primary" onPress={() => setOpenDialog('once')}>
          New export
        </Button>
      </PageHead>
      <Jobs />
      <Schedules onSchedule={() => setOpenDialog('daily')} />
      <OperationDialog
        operation="create_export"
        title="New export"
        hint="A file of your orders, commissions, clicks or other records, for a spreadsheet or a data warehouse. A manifest beside it has its SHA-256."
        isOpen={openDialog === 'once'}
        onClose={close}
        action="Start the export"
        start={{ of: 'orders', by: 'date', format: 'csv' }}
        fields={[...WHAT, { name: 'by', label: 'Filter dates by', labels: BY_LABELS, isRequired: true }, 'from', 'to']}
        omits={['schedule', 'destination', 'time_zone']}
        shown={SHOWN}
        onDone={close}
      />
      <OperationDialog
        operation="create_export"
        title="Schedule a daily export"
        hint="First everything that was recorded so far, then what is new, each day after midnight. The bucket is checked now."
        isOpen={openDialog === 'daily'}
        onClose={close}
        action="Check the bucket and start"
        start={{ of: 'orders', format: 'csv' }}
        fields={[
          ...WHAT,
          { name: 'destination.bucket', isRequired: true },
          { name: 'destination.prefix', label: 'Folder in the bucket' },
          { name: 'destination.region', isRequired: true, hint: 'Such as eu-central-1.' },
          { name: 'destination.endpoint', hint: 'Only for a storage other than AWS.' },
          { name: 'destination.access_key_id', label: 'Access key ID', isRequired: true },
          { name: 'destination.secret_access_key', kind: 'password', isRequired: true },
        ]}
        omits={['by', 'from', 'to', 'time_zone']}
        fixed={{ schedule: 'daily' }}
        shown={SHOWN}
        onDone={close}
      />
    </>
  );
}
