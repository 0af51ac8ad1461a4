import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { everyOf } from '../kit/every.ts';
import { choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { Form } from '../kit/form.tsx';
import { ago, fieldValue, number, time, words } from '../kit/format.ts';
import { Badge, Button, Card, Empty, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, PlainTable, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';

const STATES = everyOf<Row<'list_plans'>['status']>()(['open', 'applied', 'expired']);
type Plan = Row<'list_plans'>;

const GENERATED = 'Generated when applied';
const BLANK = fieldValue(null);

function Policy() {
  const { data, error, refetch } = useCall('get_agent_policy');
  const update = useChange('update_agent_policy', ['get_agent_policy']);
  const say = useSay();
  const policy = data?.data;
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!policy) return <Loading />;
  return (
    <Form
      needs="update_agent_policy"
      key={policy.updated_at ?? 'new'}
      action="Save"
      fields={[
        { name: 'money_out', label: 'Agents may pay creators', kind: 'checkbox', value: policy.money_out },
        {
          name: 'data_out',
          label: 'Agents may send data to external addresses',
          kind: 'checkbox',
          value: policy.data_out,
          hint: 'Covers webhooks, the brand’s contact details and messages with links. When off, a person must apply these changes.',
        },
        {
          name: 'payouts_per_day',
          label: `Daily payout limit, in ${policy.currency}`,
          kind: 'number',
          value: policy.payouts_per_day,
        },
        {
          name: 'highest_rate',
          label: 'Highest commission rate, in percent',
          kind: 'number',
          value: policy.highest_rate,
        },
        {
          name: 'person_above',
          label: `A person must approve amounts above, in ${policy.currency}`,
          kind: 'number',
          value: policy.person_above,
        },
        {
          name: 'allowed_tools',
          label: 'Allowed tools',
          kind: 'textarea',
          value: policy.allowed_tools?.join('\n') ?? '',
          hint: 'One per line. Leave blank to allow all.',
        },
      ]}
      onSubmit={async (values) => {
        const tools = values.list('allowed_tools');
        await update.mutateAsync({
          body: {
            money_out: values.isChecked('money_out'),
            data_out: values.isChecked('data_out'),
            payouts_per_day: values.someNumber('payouts_per_day') ?? null,
            highest_rate: values.someNumber('highest_rate') ?? null,
            person_above: values.someNumber('person_above') ?? null,
            allowed_tools: tools.length > 0 ? tools : null,
          },
        });
        say('Saved.');
      }}
    />
  );
}

/** What a plan would change, field by field, before a person applies it. */
function PlanDialog({ plan, onClose }: { plan: Plan | undefined; onClose: () => void }) {
  const apply = useChange('apply_plan', ['list_plans']);
  const applyIt = () => apply.mutateAsync({ params: { id: plan?.id ?? '' }, body: {} }).then(onClose, () => undefined);
  const rows = (plan?.changes ?? []).flatMap(({ resource_id, old, new: next, generated }) =>
    [...new Set([...Object.keys(old ?? {}), ...Object.keys(next ?? {})])].map((name) => ({
      ...{ id: `${resource_id} ${name}`, resource: resource_id, name },
      ...{ old: fieldValue(old?.[name]), next: generated.includes(name) ? GENERATED : fieldValue(next?.[name]) },
    })),
  );
  return (
    <Dialog
      title={words(plan?.operation)}
      hint="What this plan would change."
      isOpen={plan !== undefined}
      onClose={onClose}
      isSide
    >
      <PlainTable
        caption="What would change"
        rows={rows.filter(({ old, next }) => old !== BLANK || next !== BLANK)}
        keyOf={({ id }) => id}
        columns={[
          { head: 'Resource', cell: ({ resource }) => <span className="small muted">{resource}</span>, isWide: true },
          { head: 'Field', cell: ({ name }) => words(name) },
          { head: 'Now', cell: ({ old }) => old },
          { head: 'After', cell: ({ next }) => next },
        ]}
      />
      {apply.error && <Failure error={apply.error} />}
      {plan?.status === 'open' && (
        <div className="popup-foot">
          <Button needs="apply_plan" kind="primary" isBusy={apply.isPending} onPress={() => void applyIt()}>
            Apply plan
          </Button>
        </div>
      )}
    </Dialog>
  );
}

export function Agents() {
  const { get } = useFilters();
  const list = useRows('list_plans', { status: choiceOf(get('status'), STATES) });
  const [plan, setPlan] = useState<Plan>();
  const columns: readonly Column<Plan>[] = [
    {
      head: 'Plan',
      cell: (row) => (
        <Opener
          onOpen={() => setPlan(row)}
          second={
            <>
              {number(row.changes.length)} {row.changes.length === 1 ? 'change' : 'changes'}
            </>
          }
        >
          {words(row.operation)}
        </Opener>
      ),
    },
    { head: 'Created by', cell: ({ by_agent }) => (by_agent ? 'An agent' : 'A program or a person'), isWide: true },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Created', cell: ({ created_at }) => ago(created_at), isWide: true },
    { head: 'Expires', cell: ({ expires_at }) => time(expires_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Agents" hint="What agents may do with your keys, and the plans that wait for your approval." />
      <Filters of={[stateFilter(STATES)]} />
      <Table
        caption="Plans"
        list={list}
        columns={columns}
        empty={<Empty title="No plans here">Agents create a plan to preview a change.</Empty>}
      />
      <Card title="Agent permissions">
        <Policy />
      </Card>
      <PlanDialog plan={plan} onClose={() => setPlan(undefined)} />
    </>
  );
}
