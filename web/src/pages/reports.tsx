import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { everyOf } from '../kit/every.ts';
import { FormDialog } from '../kit/form.tsx';
import { money, number, percent, time, words } from '../kit/format.ts';
import { useDialog } from '../kit/opened.ts';
import { Badge, Button, Card, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';

type Report = Row<'list_reports'>;
type Alert = Row<'list_alerts'>;

const OPERATIONS = everyOf<Report['operation']>()([
  ...(['analytics', 'breakdown', 'customers', 'returns', 'share', 'performance'] as const),
]);
const OPERATION_LABELS: Readonly<Record<Report['operation'], string>> = {
  ...{ analytics: 'Analytics', breakdown: 'Sales by creator', customers: 'Customers', returns: 'Profit' },
  ...{ share: 'Creators’ share of sales', performance: 'Links and codes' },
};
const EVERY = everyOf<Report['every']>()(['day', 'week', 'month']);
/** When a report is mailed. */
const MAILED: Readonly<Record<Report['every'], string>> = {
  ...{ day: 'Every day', week: 'Mondays', month: 'First of the month' },
};
const METRICS = everyOf<Alert['metric']>()([
  ...(['orders', 'revenue', 'clicks', 'refunds', 'commission', 'conversion_rate', 'aov'] as const),
]);
const METRIC_LABELS: Readonly<Record<Alert['metric'], string>> = {
  ...{ orders: 'Orders', revenue: 'Sales', clicks: 'Clicks', refunds: 'Refunds', commission: 'Commission' },
  ...{ conversion_rate: 'Conversion rate', aov: 'Average order' },
};
const BY = everyOf<NonNullable<Alert['by']>>()([
  ...(['creator', 'campaign', 'link', 'platform', 'store', 'source', 'country'] as const),
]);
const CONDITIONS = everyOf<Alert['condition']>()(['below', 'above', 'change_percent', 'unusual']);
const CONDITION_LABELS: Readonly<Record<Alert['condition'], string>> = {
  ...{ below: 'Below', above: 'Above', change_percent: 'Changes by percent', unusual: 'Unusual for the time' },
};
const WINDOWS = everyOf<Alert['window']>()(['day', 'hour', 'week']);

/** A bound in the unit of its figure. */
function boundOf({ metric, threshold, currency }: Alert): string {
  if (metric === 'conversion_rate') return percent(threshold);
  return metric === 'orders' || metric === 'clicks' ? number(threshold) : money(threshold, currency);
}

/** When an alert fires, in words. */
function conditionOf(alert: Alert): string {
  const { condition, threshold, window } = alert;
  if (condition === 'unusual') return `Unlike the last weeks, in ${window === 'hour' ? 'an' : 'a'} ${window}`;
  if (condition === 'change_percent')
    return `${threshold < 0 ? 'Down' : 'Up'} ${percent(Math.abs(threshold))} from the ${window} before`;
  return `${words(condition)} ${boundOf(alert)} in ${window === 'hour' ? 'an' : 'a'} ${window}`;
}

/** For how many creators, links or countries an alert fires. */
const firingFor = ({ by, firing_keys: { length } }: Alert) =>
  length > 0 && by !== null && `${number(length)} ${plural(by, length)}`;

const plural = (one: string, count: number) =>
  count === 1 ? one : one.endsWith('y') ? `${one.slice(0, -1)}ies` : `${one}s`;

const problemOf = (error: string | null) => error !== null && <span className="second">{error}</span>;

function Reports() {
  const list = useRows('list_reports', {});
  const remove = useChange('delete_report', ['list_reports']);
  const columns: readonly Column<Report>[] = [
    {
      head: 'Report',
      cell: ({ name, operation, last_error }) => (
        <>
          {name ?? OPERATION_LABELS[operation]}
          {name !== null && <span className="second">{OPERATION_LABELS[operation]}</span>}
          {problemOf(last_error)}
        </>
      ),
    },
    { head: 'Mailed', cell: ({ every, at }) => `${MAILED[every]}, ${at}` },
    { head: 'To', cell: ({ to }) => to.join(', '), isWide: true },
    { head: 'Last mail', cell: ({ last_sent_at }) => <Ago at={last_sent_at} />, isWide: true },
    { head: 'Next mail', cell: ({ next_at }) => time(next_at), isWide: true },
    {
      head: 'Actions',
      needs: 'delete_report',
      cell: ({ id, name, operation }) => (
        <Confirm
          needs="delete_report"
          label="Delete"
          title={`Delete the report ${name ?? OPERATION_LABELS[operation]}?`}
          action="Delete the report"
          onConfirm={() => remove.mutateAsync({ params: { id } })}
        >
          <p>No more mails are sent for it.</p>
        </Confirm>
      ),
    },
  ];
  return (
    <Card title="Reports">
      <Table
        caption="Reports"
        list={list}
        columns={columns}
        usually={3}
        empty={
          <Empty title="No reports yet">
            For example sales and commissions, each Monday, to the people who run the program.
          </Empty>
        }
      />
    </Card>
  );
}

function Alerts() {
  const list = useRows('list_alerts', {});
  const remove = useChange('delete_alert', ['list_alerts']);
  const columns: readonly Column<Alert>[] = [
    {
      head: 'Alert',
      cell: ({ name, metric, by, last_error }) => (
        <>
          {name ?? METRIC_LABELS[metric]}
          <span className="second">
            {METRIC_LABELS[metric]}
            {by !== null && ` of each ${words(by).toLowerCase()}`}
          </span>
          {problemOf(last_error)}
        </>
      ),
    },
    { head: 'When', cell: conditionOf },
    {
      head: 'Status',
      cell: (alert) => (
        <>
          <Badge state={alert.status} />
          <span className="second">{firingFor(alert)}</span>
        </>
      ),
    },
    { head: 'To', cell: ({ to }) => to.join(', '), isWide: true },
    {
      head: 'Actions',
      needs: 'delete_alert',
      cell: ({ id, name, metric }) => (
        <Confirm
          needs="delete_alert"
          label="Delete"
          title={`Delete the alert ${name ?? METRIC_LABELS[metric]}?`}
          action="Delete the alert"
          onConfirm={() => remove.mutateAsync({ params: { id } })}
        >
          <p>Nothing is mailed when it begins or ends any more.</p>
        </Confirm>
      ),
    },
  ];
  return (
    <Card title="Alerts">
      <Table
        caption="Alerts"
        list={list}
        columns={columns}
        usually={3}
        empty={
          <Empty title="No alerts yet">
            For example when sales fall by half within a week. One mail says so, and one when they are back.
          </Empty>
        }
      />
    </Card>
  );
}

/** Figures that come by mail: at the end of each period, and when one is out of bounds. */
export function ReportsPage() {
  const own = useCall('get_session').data?.data.person.email ?? '';
  const makeReport = useChange('create_report', ['list_reports']);
  const makeAlert = useChange('create_alert', ['list_alerts']);
  const reporting = useDialog('report');
  const alerting = useDialog('alert');
  const common = [
    { name: 'name', label: 'Name', hint: 'In the subject of its mails.' },
    { name: 'to', label: 'To', isRequired: true, value: own, hint: 'People of your brand, separated by commas.' },
  ] as const;
  return (
    <>
      <PageHead
        title="Reports and alerts"
        hint="Figures by mail: when a period ends, and when one is out of its bounds."
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
      <FormDialog
        title="Create a report"
        hint="Mailed the day after each period, in your brand’s time zone, compared with the period before."
        isOpen={reporting.isOpen}
        onClose={reporting.close}
        action="Create the report"
        fields={[
          {
            ...{ name: 'operation', label: 'Figures', kind: 'select', isRequired: true },
            options: OPERATIONS.map((one) => [one, OPERATION_LABELS[one]]),
          },
          {
            ...{ name: 'every', label: 'Every', kind: 'select', isRequired: true },
            options: EVERY.map((one) => [one, words(one)]),
          },
          { name: 'at', label: 'At', isRequired: true, value: '08:00', hint: 'Such as 08:00.' },
          ...common,
        ]}
        onSubmit={async (values) => {
          const chosen = values.choice('operation', OPERATIONS);
          await makeReport.mutateAsync({
            body: {
              ...{ name: values.orNull('name'), operation: chosen, at: values.text('at'), to: values.list('to') },
              every: values.choice('every', EVERY),
              parameters: chosen === 'breakdown' || chosen === 'customers' ? { by: 'creator' } : {},
            },
          });
          reporting.close();
        }}
      />
      <FormDialog
        title="Create an alert"
        hint="Checked when an hour, day or week has ended."
        isOpen={alerting.isOpen}
        onClose={alerting.close}
        action="Create the alert"
        fields={[
          {
            ...{ name: 'metric', label: 'Figure', kind: 'select', isRequired: true },
            options: METRICS.map((one) => [one, METRIC_LABELS[one]]),
          },
          {
            ...{ name: 'by', label: 'Of', kind: 'select' },
            options: [['', 'The whole brand'], ...BY.map((one) => [one, `Each ${words(one).toLowerCase()}`] as const)],
          },
          {
            ...{ name: 'condition', label: 'Condition', kind: 'select', isRequired: true },
            options: CONDITIONS.map((one) => [one, CONDITION_LABELS[one]]),
          },
          { name: 'threshold', label: 'Bound', kind: 'number', hint: 'May stay empty for “Unusual for the time”.' },
          {
            ...{ name: 'window', label: 'Checked each', kind: 'select', isRequired: true },
            options: WINDOWS.map((one) => [one, words(one)]),
          },
          ...common,
        ]}
        onSubmit={async (values) => {
          const by = BY.find((one) => one === values.text('by')) ?? null;
          await makeAlert.mutateAsync({
            body: {
              ...{ name: values.orNull('name'), metric: values.choice('metric', METRICS), by, to: values.list('to') },
              condition: values.choice('condition', CONDITIONS),
              threshold: values.someNumber('threshold'),
              window: values.choice('window', WINDOWS),
            },
          });
          alerting.close();
        }}
      />
    </>
  );
}
