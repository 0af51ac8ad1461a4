import { Link } from '@tanstack/react-router';
import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useMay } from '../call/may.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Changes, changedNames, describeChange } from '../kit/changes.tsx';
import { Detail } from '../kit/detail.tsx';
import { Filters, findChoice, stateFilter, useFilters } from '../kit/filters.tsx';
import { counted, words } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Card, Copy, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { useAllowedTools } from './agent-tools.tsx';
import { CampaignName } from './item-links.tsx';
import { RecordLink, toKindName } from './record-links.tsx';

const STATES = listChoices('list_plans', 'status');
type Plan = Row<'list_plans'>;

/** The fields that can name a record; the first one it has is used. */
const NAMES = ['title', 'name', 'value', 'order_id', 'creator_email'] as const;

/** The record that a plan would change: its name if the plan has it, else its kind. */
function RecordTitle({ of: { resource_id: id, old, new: next } }: { of: Plan['changes'][number] }) {
  const isThere = old !== null && next !== null;
  if (id.startsWith('cmp_') && isThere) return <CampaignName id={id} />;
  const name = NAMES.map((one) => old?.[one] ?? next?.[one]).find((one) => typeof one === 'string');
  return (
    <RecordLink id={id} isThere={isThere}>
      {name === undefined ? toKindName(id) : `${toKindName(id)} ${name}`}
    </RecordLink>
  );
}

/** The record that a plan is about and what would become of it; of several records, the first. */
function Summary({ of: { changes } }: { of: Plan }) {
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const [first, ...others] = changes;
  if (!first) return <>No changes</>;
  const isChanged = first.old !== null && first.new !== null;
  const fields = isChanged ? changedNames(first).map((name) => describeChange({ ...first, currency }, name)) : [];
  return (
    <>
      <RecordTitle of={first} />
      {fields.length > 0 && `, ${fields.join(', ')}`}
      {others.length > 0 && `, and ${counted(others.length, ['more change', 'more changes'])}`}
    </>
  );
}

const NO_LIMIT = 'Leave empty for no limit.';

type ValueAt = (path: string) => string;
const mayPay = (valueAt: ValueAt) => ['on', 'true'].includes(valueAt('money_out'));

/** A bound of payments waits while agents may not pay, as the box above it says. */
const followsPaying = (valueAt: ValueAt) => (mayPay(valueAt) ? {} : { isReadOnly: true, hint: undefined });

function PolicyForm({ of: policy }: { of: Answer<'get_agent_policy'>['data'] }) {
  const say = useSay();
  const own = useAllowedTools(policy.allowed_tools);
  return (
    <OperationForm
      operation="update_agent_policy"
      action="Save"
      item={policy}
      fields={[
        {
          name: 'money_out',
          label: 'Agents may pay creators',
          follows: (valueAt) =>
            mayPay(valueAt)
              ? {}
              : { hint: 'While off, a person applies each payment, and neither limit below is used.' },
        },
        {
          name: 'payouts_per_day',
          label: `Daily payout limit, in ${policy.currency}`,
          hint: NO_LIMIT,
          follows: followsPaying,
        },
        {
          name: 'person_above',
          label: `Require approval above, in ${policy.currency}`,
          hint: 'Leave empty if no amount needs approval.',
          follows: followsPaying,
        },
        {
          name: 'data_out',
          label: 'Agents may send data to external addresses',
          hint: 'Covers webhooks, the brand’s contact details and messages with links. When off, a person must apply these changes.',
        },
        { name: 'highest_rate', label: 'Highest commission rate, in percent', hint: NO_LIMIT },
      ]}
      own={own}
      shown={['get_agent_policy']}
      onDone={() => say('Saved.')}
    />
  );
}

function Policy() {
  const { data, error, refetch } = useCall('get_agent_policy');
  const may = useMay();
  const policy = data?.data;
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!policy) return <Loading />;
  return (
    <>
      <PolicyForm key={policy.updated_at ?? 'new'} of={policy} />
      {!may('update_agent_policy') && (
        <Facts of={[['Allowed tools', policy.allowed_tools?.join(', ') ?? 'All tools']]} />
      )}
    </>
  );
}

/** Shows the changes of a plan field by field, before a person applies it. */
function OpenPlan({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_plan', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const apply = useChange('apply_plan', ['list_plans', 'get_plan']);
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const close = () => {
    apply.reset();
    onClose();
  };
  return (
    <Detail id={id} onClose={close} query={query} title={(plan) => (plan ? words(plan.operation) : 'Plan')}>
      {(plan) => (
        <>
          <p className="hint">
            {plan.status === 'open' ? 'What this plan would change.' : 'What this plan was to change.'} By{' '}
            {plan.by_agent ? 'an agent' : 'a key or a person'}
            {plan.status === 'open'
              ? '. Nothing happens until you apply it. It expires by itself on '
              : `, ${plan.status} `}
            <Time at={plan.applied_at ?? plan.expires_at} />.
          </p>
          {plan.changes.map((change) => (
            <Card key={change.resource_id} title={<RecordTitle of={change} />}>
              <Changes
                caption="What would change"
                of={{ ...change, currency }}
                shownAs={(name, value) => name === 'campaign_id' && <CampaignName id={String(value)} />}
              />
            </Card>
          ))}
          {apply.error && <Failure error={apply.error} />}
          {plan.status === 'open' && (
            <div className="popup-foot">
              <Button
                needs="apply_plan"
                kind="primary"
                isBusy={apply.isPending}
                onPress={() =>
                  void apply.mutateAsync({ params: { id: plan.id }, body: {} }).then(close, () => undefined)
                }
              >
                Apply plan
              </Button>
            </div>
          )}
        </>
      )}
    </Detail>
  );
}

/** Explains the connection of an agent to this server. */
function Connect() {
  const url = `${location.origin}/mcp`;
  const command = `claude mcp add --transport http rollcall ${url}`;
  const settings = JSON.stringify({ mcpServers: { rollcall: { url } } });
  return (
    <Card title="Connect an agent">
      <p className="hint">
        Agents use the Model Context Protocol. On first use, the agent opens a page here, where an owner chooses what it
        may do; its token is listed under <Link to="/keys">API keys</Link> and can be revoked there.
      </p>
      <Snippet title="Address, for Claude and ChatGPT" text={url} />
      <Snippet title="Claude Code" text={command} />
      <Snippet title="Cursor, .cursor/mcp.json" text={settings} />
    </Card>
  );
}

function Snippet({ title, text }: { title: string; text: string }) {
  return (
    <div className="code short">
      <h3>{title}</h3>
      <div className="code-text">
        <pre>
          <code>{text}</code>
        </pre>
      </div>
      <Copy text={text} label={`Copy: ${title}`} />
    </div>
  );
}

export function Agents() {
  const { get } = useFilters();
  const list = useRows('list_plans', { status: findChoice(get('status'), STATES), sort: 'waiting' });
  const panel = useOpened();
  const columns: readonly Column<Plan>[] = [
    {
      head: 'Plan',
      cell: (row) => (
        <Opener
          onOpen={() => panel.open(row.id)}
          second={
            <span className="narrow">
              <Summary of={row} />
            </span>
          }
        >
          {words(row.operation)}
        </Opener>
      ),
    },
    {
      head: 'Change',
      cell: (row) => (
        <span className="second sentence">
          <Summary of={row} />
        </span>
      ),
      isWide: true,
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} />, chip: 'value' },
    {
      head: 'Created',
      cell: ({ created_at, by_agent }) => (
        <>
          <Time at={created_at} />
          <span className="second">by {by_agent ? 'an agent' : 'a person or an API key'}</span>
        </>
      ),
      isWide: true,
    },
    { head: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} />, chip: 'named' },
    {
      head: 'Actions',
      needs: 'apply_plan',
      cell: ({ id, status }) => status === 'open' && <Button onPress={() => panel.open(id)}>Review plan</Button>,
    },
  ];
  return (
    <>
      <PageHead title="Agents" hint="What agents may do, and the plans waiting for your approval." />
      {(list.total !== 0 || get('status') !== undefined) && <Filters of={[stateFilter(STATES)]} />}
      <Table
        caption="Plans"
        noun="plan"
        list={list}
        columns={columns}
        usually={3}
        empty={
          <Empty title="No plans here">
            When an agent prepares a change, it appears here for a person to read and apply.
          </Empty>
        }
      />
      <div className="grid">
        <Card title="Agent permissions">
          <Policy />
        </Card>
        <Connect />
      </div>
      <OpenPlan id={panel.id} onClose={panel.close} />
    </>
  );
}
