import { type ReactNode, useState } from 'react';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Choose } from '../kit/filters.tsx';
import { counted, money, number, percent, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Card, Empty } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';

type Alert = Row<'list_alerts'>;

const METRICS = listChoices('list_alerts', 'metric');
const METRIC_LABELS: Readonly<Record<Alert['metric'], string>> = {
  orders: 'Orders',
  revenue: 'Sales',
  clicks: 'Clicks',
  refunds: 'Refunds',
  commission: 'Commission',
  conversion_rate: 'Conversion rate',
  aov: 'Average order',
};
const BY = listChoices('list_alerts', 'by');
const CONDITIONS = listChoices('list_alerts', 'condition');
const CONDITION_LABELS: Readonly<Record<Alert['condition'], string>> = {
  below: 'Below',
  above: 'Above',
  change_percent: 'Changes by percent',
  unusual: 'Unusual for the time',
};

/** A bound in the unit of its figure. */
function formatBound({ metric, threshold, currency }: Alert): string {
  if (metric === 'conversion_rate') return percent(threshold);
  return metric === 'orders' || metric === 'clicks' ? number(threshold) : money(threshold, currency);
}

/** The condition of an alert in words. */
function describeCondition(alert: Alert): string {
  const { condition, threshold, window } = alert;
  if (condition === 'unusual') return `Unlike the last weeks, in ${window === 'hour' ? 'an' : 'a'} ${window}`;
  if (condition === 'change_percent')
    return `${threshold < 0 ? 'Down' : 'Up'} ${percent(Math.abs(threshold))} from the ${window} before`;
  return `${words(condition)} ${formatBound(alert)} in ${window === 'hour' ? 'an' : 'a'} ${window}`;
}

const nameAlert = ({ name, metric }: Alert) => name ?? METRIC_LABELS[metric];

/** Why a report or alert cannot be read. */
export const renderProblem = (error: string | null): ReactNode =>
  error !== null && <span className="block problem">{error}</span>;

/** The name of a report or alert, and who gets its mails. */
export const MAILED_FIELDS = [
  { name: 'name', hint: 'Shown in the subject of its emails.' },
  { name: 'to', isRequired: true, hint: 'Email addresses of your team, separated by commas.' },
] as const;

/** Names shown in a row. */
const NAMED = 2;
const ID = /^[a-z]{3}_/;

/** Names the rows that an alert fires for: `Mei Silva, Jürgen Nguyen and 2 more`. */
function FiringFor({ of: { by, firing_keys: keys }, most = NAMED }: { of: Alert; most?: number }) {
  const isEnabled = by !== null && keys.length > 0;
  const { data } = useCall(
    'get_analytics_breakdown',
    { query: { by: by ?? 'creator', limit: 100 } },
    { enabled: isEnabled },
  );
  if (by === null || keys.length === 0) return null;
  const labels = new Map(data?.data.map(({ key, label }) => [key, label]));
  // The key of a country or product is its name; an id whose row the last days do not have is only counted.
  const names = keys.flatMap((key) => labels.get(key) ?? (ID.test(key) ? [] : key)).slice(0, most);
  if (names.length === 0) return counted(keys.length, by);
  const more = keys.length - names.length;
  return (
    <>
      {names.join(', ')}
      {more > 0 && ` and ${number(more)} more`}
    </>
  );
}

const BY_LABELS = {
  '': 'The whole brand',
  ...Object.fromEntries(BY.map((one) => [one, `Each ${words(one).toLowerCase()}`])),
};

const THRESHOLDS: Readonly<Record<Alert['condition'], object>> = {
  below: {},
  above: {},
  change_percent: { label: 'Threshold, in percent', hint: 'A fall is negative, such as -50.' },
  unusual: { label: 'Deviations from usual', hint: 'Leave empty for 3.', isRequired: false },
};

interface AlertFormProps {
  alert?: Alert;
  onClose: () => void;
}

/** The fields follow the condition. */
function AlertForm({ alert, onClose }: AlertFormProps) {
  const [metric, setMetric] = useState(alert?.metric ?? 'orders');
  const [condition, setCondition] = useState(alert?.condition ?? 'below');
  const own = useCall('get_session').data?.data.person.email;
  const common = {
    onCancel: onClose,
    fields: [
      { name: 'by', label: 'For', labels: BY_LABELS },
      { name: 'threshold', isRequired: true, ...THRESHOLDS[condition] },
      { name: 'window', label: 'Every' },
      ...MAILED_FIELDS,
    ],
    fixed: { metric, condition },
    shown: ['list_alerts'],
    onDone: onClose,
  } as const;
  return (
    <>
      <Choose
        ofForm
        label="Figure"
        value={metric}
        options={METRICS.map((one) => [one, METRIC_LABELS[one]])}
        onChoose={setMetric}
      />
      <Choose
        ofForm
        label="Condition"
        value={condition}
        options={CONDITIONS.map((one) => [one, CONDITION_LABELS[one]])}
        onChoose={setCondition}
      />
      {alert ? (
        <OperationForm operation="update_alert" action="Save" params={{ id: alert.id }} item={alert} {...common} />
      ) : (
        <OperationForm operation="create_alert" action="Create the alert" start={{ to: own && [own] }} {...common} />
      )}
    </>
  );
}

export function CreateAlert({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      title="Create an alert"
      hint="Checked at the end of each hour, day or week."
      isOpen={isOpen}
      onClose={onClose}
    >
      <AlertForm onClose={onClose} />
    </Dialog>
  );
}

export function Alerts() {
  const list = useRows('list_alerts', {});
  const remove = useChange('delete_alert', ['list_alerts']);
  const panel = useOpened();
  const alert = list.rows.find(({ id }) => id === panel.id);
  const columns: readonly Column<Alert>[] = [
    {
      head: 'Alert',
      cell: (one) => (
        <Opener
          onOpen={() => panel.open(one.id)}
          second={
            <>
              {METRIC_LABELS[one.metric]}
              {one.by !== null && ` per ${words(one.by).toLowerCase()}`}
              <span className="narrow">{describeCondition(one)}</span>
              {renderProblem(one.last_error)}
            </>
          }
        >
          {nameAlert(one)}
        </Opener>
      ),
    },
    { head: 'When', cell: describeCondition, isWide: true },
    {
      head: 'Status',
      cell: (one) => (
        <>
          <Badge state={one.status} />
          <span className="second">
            <FiringFor of={one} />
          </span>
        </>
      ),
    },
    { head: 'To', cell: ({ to }) => to.join(', '), isWide: true },
    {
      head: 'Actions',
      needs: 'delete_alert',
      cell: (one) => (
        <Menu label={`Actions for ${nameAlert(one)}`}>
          <Button onPress={() => panel.open(one.id)}>Edit</Button>
          <Confirm
            label="Delete"
            title={`Delete the alert ${nameAlert(one)}?`}
            action="Delete the alert"
            onConfirm={() => remove.mutateAsync({ params: { id: one.id } })}
          >
            <p>You will no longer be emailed when it starts or ends.</p>
          </Confirm>
        </Menu>
      ),
    },
  ];
  return (
    <Card title="Alerts">
      <Table
        caption="Alerts"
        noun="alert"
        isBare
        list={list}
        columns={columns}
        usually={3}
        empty={
          <Empty title="No alerts yet">
            For example, when sales fall by half within a week. You get an email then, and another when they recover.
          </Empty>
        }
      />
      {alert && (
        <Dialog
          key={alert.id}
          title={nameAlert(alert)}
          hint={
            alert.firing_keys.length > 0 ? (
              <>
                Firing for <FiringFor of={alert} most={alert.firing_keys.length} />.
              </>
            ) : (
              'Checked at the end of each hour, day or week.'
            )
          }
          isOpen
          onClose={panel.close}
        >
          <AlertForm alert={alert} onClose={panel.close} />
        </Dialog>
      )}
    </Card>
  );
}
