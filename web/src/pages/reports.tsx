import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import type { ReadBody } from '../kit/declared.ts';
import { Confirm } from '../kit/dialog.tsx';
import { brandZone, clock, time } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Card, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';
import { Alerts, CreateAlert, MAILED_FIELDS, renderProblem } from './report-alerts.tsx';
import { nameReport, OPERATION_LABELS } from './report-open.tsx';

type Report = Row<'list_reports'>;

/** The time at which a report is mailed. */
const MAILED: Readonly<Record<Report['every'], string>> = {
  day: 'Every day',
  week: 'Mondays',
  month: 'First of the month',
};
/** The page of the figures of a report, as its mail opens it. */
const PAGES = {
  analytics: '/analytics',
  breakdown: '/analytics',
  customers: '/customers',
  returns: '/returns',
  share: '/customers',
  performance: '/links',
} as const satisfies Readonly<Record<Report['operation'], string>>;

const daysBefore = (day: string, days: number) => toUtcDay(Date.parse(day) - days * DAY_MS);

/** The first day of the period that ends before a day. */
function startOfPeriod(every: Report['every'], end: string): string {
  if (every === 'month') return `${daysBefore(end, 1).slice(0, 7)}-01`;
  return daysBefore(end, every === 'week' ? 7 : 1);
}

/** The figures of the period that was mailed last. */
function toLastReport({ id, operation, parameters, every, next_at, timezone }: Report) {
  const next = new Intl.DateTimeFormat('en-CA', { timeZone: timezone }).format(new Date(next_at));
  const end = startOfPeriod(every, next);
  const { by = 'creator', ...others } = parameters;
  return {
    to: PAGES[operation],
    search: {
      ...(operation === 'breakdown' ? { of: by, ...others } : parameters),
      from: startOfPeriod(every, end),
      to: daysBefore(end, 1),
      report: id,
      ...(timezone === brandZone() ? {} : { time_zone: timezone }),
    },
  };
}

/** Other figures get the parameters that they need; the same ones keep theirs. */
function chooseParameters({ operation }: ReadBody, was?: Report) {
  const isBy = operation === 'breakdown' || operation === 'customers';
  if (was && operation === was.operation) return { parameters: was.parameters };
  return { parameters: isBy ? { by: 'creator' } : {} };
}

const FIELDS = [
  { name: 'operation', label: 'Figures', labels: OPERATION_LABELS },
  'every',
  { name: 'at', label: 'Time', kind: 'time' },
  ...MAILED_FIELDS,
] as const;

const TITLE_HINT = 'Emailed the day after each period, in your brand’s time zone, compared with the period before.';

function Reports() {
  const list = useRows('list_reports', {});
  const remove = useChange('delete_report', ['list_reports']);
  const panel = useOpened();
  const report = list.rows.find(({ id }) => id === panel.id);
  const columns: readonly Column<Report>[] = [
    {
      head: 'Report',
      cell: (one) => (
        <>
          {one.last_sent_at === null ? (
            <span className="strong">{nameReport(one)}</span>
          ) : (
            <Link className="link" {...toLastReport(one)} title="Open the last report">
              {nameReport(one)}
            </Link>
          )}
          <span className="second">
            {one.name !== null && OPERATION_LABELS[one.operation]}
            {renderProblem(one.last_error)}
          </span>
        </>
      ),
    },
    { head: 'Schedule', cell: ({ every, at }) => `${MAILED[every]}, ${clock(at)}` },
    { head: 'To', cell: ({ to }) => to.join(', '), isWide: true },
    { head: 'Last sent', cell: ({ last_sent_at }) => <Ago at={last_sent_at} />, isWide: true },
    { head: 'Next', cell: ({ next_at }) => time(next_at), chip: 'named' },
    {
      head: 'Actions',
      needs: 'delete_report',
      cell: (one) => (
        <Menu label={`Actions for ${nameReport(one)}`}>
          <Button onPress={() => panel.open(one.id)}>Edit</Button>
          <Confirm
            label="Delete"
            title={`Delete the report ${nameReport(one)}?`}
            action="Delete the report"
            onConfirm={() => remove.mutateAsync({ params: { id: one.id } })}
          >
            <p>It will no longer be emailed.</p>
          </Confirm>
        </Menu>
      ),
    },
  ];
  return (
    <Card title="Reports">
      <Table
        caption="Reports"
        noun="report"
        isBare
        list={list}
        columns={columns}
        usually={3}
        empty={
          <Empty title="No reports yet">
            For example sales and commissions, each Monday, to the people who run the program.
          </Empty>
        }
      />
      {report && (
        <OperationDialog
          operation="update_report"
          key={report.id}
          title={nameReport(report)}
          hint={TITLE_HINT}
          isOpen
          onClose={panel.close}
          action="Save"
          params={{ id: report.id }}
          item={report}
          fields={FIELDS}
          omits={['parameters']}
          fixed={(body) => chooseParameters(body, report)}
          shown={['list_reports']}
          onDone={panel.close}
        />
      )}
    </Card>
  );
}

/** Figures that come by mail: at the end of each period, and when one is out of bounds. */
export function ReportsPage() {
  const reporting = useDialog('report');
  const alerting = useDialog('alert');
  const own = useCall('get_session').data?.data.person.email;
  return (
    <>
      <PageHead
        title="Reports and alerts"
        hint="Reports email your figures on a schedule. Alerts tell you when a figure crosses a limit."
      >
        <Button needs="create_alert" onPress={alerting.open}>
          Create an alert
        </Button>
        <Button needs="create_report" kind="primary" onPress={reporting.open}>
          Create a report
        </Button>
      </PageHead>
      <Reports />
      <Alerts />
      <OperationDialog
        operation="create_report"
        title="Create a report"
        hint={TITLE_HINT}
        isOpen={reporting.isOpen}
        onClose={reporting.close}
        action="Create the report"
        start={{ operation: 'analytics', every: 'day', to: own && [own] }}
        fields={FIELDS}
        omits={['parameters']}
        fixed={(body) => chooseParameters(body)}
        shown={['list_reports']}
        onDone={reporting.close}
      />
      <CreateAlert isOpen={alerting.isOpen} onClose={alerting.close} />
    </>
  );
}
