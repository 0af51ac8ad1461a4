import { type ReactNode, useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { listEnum } from '../kit/every.ts';
import { Choose } from '../kit/filters.tsx';
import { type Field, Form, type Values } from '../kit/form.tsx';
import { money, number, percent, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useOpened } from '../kit/opened.ts';
import { Badge, Button, Card, Empty } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';

type Alert = Row<'list_alerts'>;

const METRICS = listEnum<Alert['metric']>()([
  ...(['orders', 'revenue', 'clicks', 'refunds', 'commission', 'conversion_rate', 'aov'] as const),
]);
const METRIC_LABELS: Readonly<Record<Alert['metric'], string>> = {
  orders: 'Orders',
  revenue: 'Sales',
  clicks: 'Clicks',
  refunds: 'Refunds',
  commission: 'Commission',
  conversion_rate: 'Conversion rate',
  aov: 'Average order',
};
const BY = listEnum<NonNullable<Alert['by']>>()([
  ...(['creator', 'campaign', 'link', 'platform', 'store', 'source', 'country'] as const),
]);
const CONDITIONS = listEnum<Alert['condition']>()(['below', 'above', 'change_percent', 'unusual']);
const CONDITION_LABELS: Readonly<Record<Alert['condition'], string>> = {
  below: 'Below',
  above: 'Above',
  change_percent: 'Changes by percent',
  unusual: 'Unusual for the time',
};
const WINDOWS = listEnum<Alert['window']>()(['day', 'hour', 'week']);

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
export function useMailed(of?: { name: string | null; to: readonly string[] }): Field[] {
  const own = useCall('get_session').data?.data.person.email ?? '';
  return [
    { name: 'name', label: 'Name', value: of?.name ?? null, hint: 'In the subject of its mails.' },
    {
      name: 'to',
      label: 'To',
      isRequired: true,
      value: of?.to.join(', ') ?? own,
      hint: 'People of your brand, separated by commas.',
    },
  ];
}

/** Names shown in a row. */
const NAMED = 2;

/** Names the rows that an alert fires for: `Mei Silva, Jürgen Nguyen and 2 more`. */
function FiringFor({ of: { by, firing_keys: keys }, most = NAMED }: { of: Alert; most?: number }) {
  const isEnabled = by !== null && keys.length > 0;
  const { data } = useCall(
    'get_analytics_breakdown',
    { query: { by: by ?? 'creator', limit: 100 } },
    { enabled: isEnabled },
  );
  if (!isEnabled) return null;
  const labels = new Map(data?.data.map(({ key, label }) => [key, label]));
  const names = keys.map((key) => labels.get(key) ?? key);
  const more = names.length - most;
  return (
    <>
      {names.slice(0, most).join(', ')}
      {more > 0 && ` and ${number(more)} more`}
    </>
  );
}

/** No dimension: the figure of all creators, links and countries together. */
const BRAND = 'brand';
const USUAL_DEVIATIONS = 3;

const buildFields = (alert: Alert | undefined, condition: Alert['condition'], mailed: readonly Field[]): Field[] => [
  {
    name: 'by',
    label: 'For',
    kind: 'select',
    isRequired: true,
    value: alert?.by ?? BRAND,
    options: [[BRAND, 'The whole brand'], ...BY.map((one) => [one, `Each ${words(one).toLowerCase()}`] as const)],
  },
  condition === 'unusual'
    ? {
        name: 'threshold',
        label: 'Deviations from usual',
        kind: 'number',
        value: alert?.threshold ?? null,
        hint: `Empty: ${USUAL_DEVIATIONS}.`,
      }
    : {
        name: 'threshold',
        kind: 'number',
        isRequired: true,
        value: alert?.threshold ?? null,
        label: condition === 'change_percent' ? 'Threshold, in percent' : 'Threshold',
        ...(condition === 'change_percent' ? { hint: 'A fall is negative, such as -50.' } : {}),
      },
  {
    name: 'window',
    label: 'Every',
    kind: 'select',
    isRequired: true,
    value: alert?.window ?? null,
    options: WINDOWS.map((one) => [one, words(one)]),
  },
  ...mailed,
];

function toBody(values: Values, metric: Alert['metric'], condition: Alert['condition']) {
  return {
    name: values.orNull('name'),
    metric,
    to: values.list('to'),
    by: BY.find((one) => one === values.text('by')) ?? null,
    condition,
    threshold: values.someNumber('threshold') ?? (condition === 'unusual' ? USUAL_DEVIATIONS : undefined),
    window: values.choice('window', WINDOWS),
  };
}

interface AlertFormProps {
  alert?: Alert;
  needs: 'create_alert' | 'update_alert';
  action: string;
  onClose: () => void;
  onSubmit: (body: ReturnType<typeof toBody>) => Promise<unknown>;
}

/** The fields follow the condition. */
function AlertForm({ alert, needs, action, onClose, onSubmit }: AlertFormProps) {
  const [metric, setMetric] = useState(alert?.metric ?? METRICS[0]);
  const [condition, setCondition] = useState(alert?.condition ?? 'below');
  const mailed = useMailed(alert);
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
      <Form
        needs={needs}
        action={action}
        onCancel={onClose}
        fields={buildFields(alert, condition, mailed)}
        onSubmit={(values) => onSubmit(toBody(values, metric, condition)).then(onClose)}
      />
    </>
  );
}

export function CreateAlert({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const make = useChange('create_alert', ['list_alerts']);
  return (
    <Dialog
      title="Create an alert"
      hint="Checked when an hour, day or week has ended."
      isOpen={isOpen}
      onClose={onClose}
    >
      <AlertForm
        needs="create_alert"
        action="Create the alert"
        onClose={onClose}
        onSubmit={(body) => make.mutateAsync({ body })}
      />
    </Dialog>
  );
}

export function Alerts() {
  const list = useRows('list_alerts', {});
  const remove = useChange('delete_alert', ['list_alerts']);
  const update = useChange('update_alert', ['list_alerts']);
  const opened = useOpened();
  const alert = list.rows.find(({ id }) => id === opened.id);
  const columns: readonly Column<Alert>[] = [
    {
      head: 'Alert',
      cell: (one) => (
        <Opener
          onOpen={() => opened.open(one.id)}
          second={
            <>
              {METRIC_LABELS[one.metric]}
              {one.by !== null && ` of each ${words(one.by).toLowerCase()}`}
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
          <Button onPress={() => opened.open(one.id)}>Edit</Button>
          <Confirm
            label="Delete"
            title={`Delete the alert ${nameAlert(one)}?`}
            action="Delete the alert"
            onConfirm={() => remove.mutateAsync({ params: { id: one.id } })}
          >
            <p>Nothing is mailed when it begins or ends any more.</p>
          </Confirm>
        </Menu>
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
              'Checked when an hour, day or week has ended.'
            )
          }
          isOpen
          onClose={opened.close}
        >
          <AlertForm
            alert={alert}
            needs="update_alert"
            action="Save"
            onClose={opened.close}
            onSubmit={(body) => update.mutateAsync({ params: { id: alert.id }, body })}
          />
        </Dialog>
      )}
    </Card>
  );
}
