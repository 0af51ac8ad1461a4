import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import type { ReadBody } from '../kit/declared.ts';
import { Confirm } from '../kit/dialog.tsx';
import { clock, time } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Card, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { Alerts, CreateAlert, MAILED_FIELDS, renderProblem } from './report-alerts.tsx';

type Report = Row<'list_reports'>;

const OPERATION_LABELS: Readonly<Record<Report['operation'], string>> = {
  analytics: 'Analytics',
  breakdown: 'Sales by creator',
  customers: 'Customers',
  returns: 'Profit',
  share: 'Creators’ share of sales',
  performance: 'Links and codes',
};
/** The time at which a report is mailed. */
const MAILED: Readonly<Record<Report['every'], string>> = {
  day: 'Every day',
  week: 'Mondays',
  month: 'First of the month',
};
const nameReport = ({ name, operation }: Report) => name ?? OPERATION_LABELS[operation];

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
        <Opener
          onOpen={() => panel.open(one.id)}
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
