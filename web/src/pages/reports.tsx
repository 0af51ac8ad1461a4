import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { listEnum } from '../kit/every.ts';
import { type Field, FormDialog, type Values } from '../kit/form.tsx';
import { time, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Button, Card, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { Alerts, CreateAlert, renderProblem, useMailed } from './report-alerts.tsx';

type Report = Row<'list_reports'>;

const OPERATIONS = listEnum<Report['operation']>()([
  ...(['analytics', 'breakdown', 'customers', 'returns', 'share', 'performance'] as const),
]);
const OPERATION_LABELS: Readonly<Record<Report['operation'], string>> = {
  analytics: 'Analytics',
  breakdown: 'Sales by creator',
  customers: 'Customers',
  returns: 'Profit',
  share: 'Creators’ share of sales',
  performance: 'Links and codes',
};
const EVERY = listEnum<Report['every']>()(['day', 'week', 'month']);
/** The time at which a report is mailed. */
const MAILED: Readonly<Record<Report['every'], string>> = {
  day: 'Every day',
  week: 'Mondays',
  month: 'First of the month',
};
const nameReport = ({ name, operation }: Report) => name ?? OPERATION_LABELS[operation];

const buildFields = (report: Report | undefined, mailed: readonly Field[]): Field[] => [
  {
    name: 'operation',
    label: 'Figures',
    kind: 'select',
    isRequired: true,
    value: report?.operation ?? null,
    options: OPERATIONS.map((one) => [one, OPERATION_LABELS[one]]),
  },
  {
    name: 'every',
    label: 'Every',
    kind: 'select',
    isRequired: true,
    value: report?.every ?? null,
    options: EVERY.map((one) => [one, words(one)]),
  },
  { name: 'at', label: 'At', isRequired: true, value: report?.at ?? '08:00', hint: 'Such as 08:00.' },
  ...mailed,
];

/** Other figures get the parameters that they need; the same ones keep theirs. */
function toBody(values: Values, was?: Report) {
  const operation = values.choice('operation', OPERATIONS);
  const isBy = operation === 'breakdown' || operation === 'customers';
  return {
    name: values.orNull('name'),
    operation,
    at: values.text('at'),
    to: values.list('to'),
    every: values.choice('every', EVERY),
    parameters: operation === was?.operation ? was.parameters : isBy ? { by: 'creator' } : {},
  };
}

const TITLE_HINT = 'Mailed the day after each period, in your brand’s time zone, compared with the period before.';

function Reports() {
  const list = useRows('list_reports', {});
  const remove = useChange('delete_report', ['list_reports']);
  const update = useChange('update_report', ['list_reports']);
  const opened = useOpened();
  const report = list.rows.find(({ id }) => id === opened.id);
  const mailed = useMailed(report);
  const columns: readonly Column<Report>[] = [
    {
      head: 'Report',
      cell: (one) => (
        <Opener
          onOpen={() => opened.open(one.id)}
          second={
            <>
              {one.name !== null && OPERATION_LABELS[one.operation]}
              {renderProblem(one.last_error)}
            </>
          }
        >
          {nameReport(one)}
        </Opener>
      ),
    },
    { head: 'Mailed', cell: ({ every, at }) => `${MAILED[every]}, ${at}` },
    { head: 'To', cell: ({ to }) => to.join(', '), isWide: true },
    { head: 'Last mail', cell: ({ last_sent_at }) => <Ago at={last_sent_at} />, isWide: true },
    { head: 'Next mail', cell: ({ next_at }) => time(next_at), isWide: true },
    {
      head: 'Actions',
      needs: 'delete_report',
      cell: (one) => (
        <Menu label={`Actions for ${nameReport(one)}`}>
          <Button onPress={() => opened.open(one.id)}>Edit</Button>
          <Confirm
            label="Delete"
            title={`Delete the report ${nameReport(one)}?`}
            action="Delete the report"
            onConfirm={() => remove.mutateAsync({ params: { id: one.id } })}
          >
            <p>No more mails are sent for it.</p>
          </Confirm>
        </Menu>
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
      {report && (
        <FormDialog
          key={report.id}
          needs="update_report"
          title={nameReport(report)}
          hint={TITLE_HINT}
          isOpen
          onClose={opened.close}
          action="Save"
          fields={buildFields(report, mailed)}
          onSubmit={async (values) => {
            await update.mutateAsync({ params: { id: report.id }, body: toBody(values, report) });
            opened.close();
          }}
        />
      )}
    </Card>
  );
}

/** Figures that come by mail: at the end of each period, and when one is out of bounds. */
export function ReportsPage() {
  const make = useChange('create_report', ['list_reports']);
  const reporting = useDialog('report');
  const alerting = useDialog('alert');
  const mailed = useMailed();
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
        hint={TITLE_HINT}
        isOpen={reporting.isOpen}
        onClose={reporting.close}
        action="Create the report"
        fields={buildFields(undefined, mailed)}
        onSubmit={async (values) => {
          await make.mutateAsync({ body: toBody(values) });
          reporting.close();
        }}
      />
      <CreateAlert isOpen={alerting.isOpen} onClose={alerting.close} />
    </>
  );
}
