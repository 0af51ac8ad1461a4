import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall, useFirst } from '../call/use.ts';
import { minorMoney, number, percent } from '../kit/format.ts';
import { FollowedJob, type Job } from '../kit/job.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Card, Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { BudgetBars } from './budget-bars.tsx';
import { isSimulated, type Simulated } from './simulated.ts';
import { TermsButton } from './terms-dialog.tsx';

const SHOWN = 10;

const MODEL = {
  label: 'After several clicks, pay',
  labels: { '': 'As it is now', last_click: 'The last one', first_click: 'The first one' },
} as const;
const POLICY = {
  label: 'With a code and a click, pay',
  labels: { '': 'As it is now', code_wins: 'The code', click_wins: 'The click' },
} as const;

const CUSTOMER_POLICY = {
  label: 'With a code, from a customer whom another creator brought, pay',
  labels: { '': 'As it is now', order_wins: 'The code', customer_wins: 'The creator who brought the customer' },
} as const;

/** The terms of links and codes that no other place has terms for. */
function BrandTerms() {
  const { data, error } = useCall('get_attribution_rules');
  const rules = data?.data;
  const summary = useFirst('list_terms', {}, { limit: 1, isEnabled: rules?.terms !== null }).data?.data[0]?.summary;
  // The form above says what failed, and asks again.
  if (error) return null;
  if (!rules) return <Loading rows={2} />;
  const { terms, budget } = rules;
  return (
    <div className="stack">
      <p>
        {terms === null
          ? 'Links and codes without terms of their own, a group or a campaign pay the default commission.'
          : summary}
      </p>
      <BudgetBars of={budget} />
      <TermsButton of={{ place: 'brand', id: null, name: 'the brand', terms, budget }} />
    </div>
  );
}

/** The rules that hold for all codes and links. */
function RulesForm() {
  const { data, error, refetch } = useCall('get_attribution_rules');
  const say = useSay();
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={5} />;
  const { currency, updated_at } = data.data;
  return (
    <OperationForm
      operation="update_attribution_rules"
      key={updated_at ?? 'new'}
      action="Save"
      item={data.data}
      fields={[
        { ...MODEL, name: 'model' },
        { ...POLICY, name: 'coupon_policy' },
        { ...CUSTOMER_POLICY, name: 'customer_policy' },
        { name: 'min_order', label: `Smallest order that pays, in ${currency}`, hint: 'Empty: every order pays.' },
      ]}
      omits={['terms']}
      shown={['get_attribution_rules']}
      onDone={() => say('Saved. New orders are attributed by these rules.')}
    />
  );
}

function Result({ of: { data, meta } }: { of: Simulated }) {
  return (
    <div className="stack" aria-live="polite">
      <p>
        {number(meta.changed)} of {number(meta.orders)} paid orders would change.
        {meta.without_candidates > 0 &&
          ` ${number(meta.without_candidates)} came without a code or click; no rule can find a creator for them.`}
      </p>
      <PlainTable
        caption="All creators"
        rows={data.totals}
        getKey={({ currency }) => currency}
        columns={[
          { head: 'Currency', cell: ({ currency }) => currency },
          {
            head: 'Orders',
            isNumber: true,
            cell: ({ orders_now, orders_simulated }) => `${number(orders_now)} → ${number(orders_simulated)}`,
          },
          {
            head: 'Commission',
            isNumber: true,
            cell: ({ currency, ...row }) =>
              `${minorMoney(row.commission_now_minor, currency)} → ${minorMoney(row.commission_simulated_minor, currency)}`,
          },
          {
            head: 'In review',
            isNumber: true,
            isWide: true,
            cell: ({ currency, ...row }) =>
              `${minorMoney(row.in_review_now_minor, currency)} → ${minorMoney(row.in_review_simulated_minor, currency)}`,
          },
        ]}
      />
      <PlainTable
        caption="Creators whose commission changes most"
        rows={data.creators.slice(0, SHOWN)}
        getKey={({ creator_id, currency }) => `${creator_id} ${currency}`}
        columns={[
          { head: 'Creator', cell: ({ creator_name, creator_email }) => creator_name ?? creator_email },
          {
            head: 'Orders',
            isNumber: true,
            cell: ({ orders_now, orders_simulated }) => `${number(orders_now)} → ${number(orders_simulated)}`,
          },
          {
            head: 'Commission',
            isNumber: true,
            cell: ({ currency, ...row }) =>
              `${minorMoney(row.commission_now_minor, currency)} → ${minorMoney(row.commission_simulated_minor, currency)}`,
          },
        ]}
      />
      {data.changed.length > 0 && (
        <PlainTable
          caption="Orders that change"
          rows={data.changed.slice(0, SHOWN)}
          getKey={({ id }) => id}
          columns={[
            {
              head: 'Order',
              cell: ({ order_id, order_number, reason }) => (
                <>
                  {order_number ?? order_id}
                  <span className="second sentence">{reason}</span>
                </>
              ),
            },
            { head: 'Now', cell: ({ now, currency }) => sideText(now, currency) },
            { head: 'With these rules', cell: ({ simulated, currency }) => sideText(simulated, currency) },
          ]}
        />
      )}
    </div>
  );
}

type Side = Simulated['data']['changed'][number]['now'];

const sideText = (side: Side, currency: string) =>
  side === null
    ? 'Nobody'
    : `${side.creator_email ?? 'A creator'}, ${minorMoney(side.commission_minor, currency)} (${percent(side.commission_rate)})`;

/** The results of a simulation of very many orders, which runs as a job. */
function FoundByJob({ of: { result, files } }: { of: Job }) {
  if (!isSimulated(result)) return null;
  const url = files[0]?.url;
  return (
    <>
      <Result of={result} />
      {url && (
        <p>
          <a href={url}>Download all creators</a>
        </p>
      )}
    </>
  );
}

/** Tries rules on past orders, before they are set. */
function WhatIf() {
  const [simulation, setSimulation] = useState<Answer<'simulate_rules'>>();
  return (
    <>
      <OperationForm
        operation="simulate_rules"
        action="Simulate"
        kind="plain"
        fields={[
          { name: 'from', hint: 'By default the last 30 days.' },
          'to',
          'rules.attribution_days',
          'rules.hold_days',
          { name: 'rules.rate', label: 'Commission, in percent' },
          { name: 'rules.min_order', label: 'Smallest order', hint: '0: every order pays.' },
          { ...MODEL, name: 'rules.model', label: 'Several clicks' },
          { ...POLICY, name: 'rules.coupon_policy', label: 'A code and a click' },
        ]}
        omits={['time_zone', 'rules.terms', 'of']}
        shown={[]}
        onDone={setSimulation}
      />
      {simulation && 'meta' in simulation && <Result of={simulation} />}
      {simulation && !('meta' in simulation) && (
        <FollowedJob id={simulation.data.id} noun="simulation" done={(job) => <FoundByJob of={job} />} />
      )}
    </>
  );
}

export function AttributionCard() {
  return (
    <Card>
      <RulesForm />
      <h2>Terms</h2>
      <BrandTerms />
    </Card>
  );
}

export function WhatIfCard() {
  return (
    <Card>
      <WhatIf />
    </Card>
  );
}
