import { useState } from 'react';
import type { Answer, Body } from '../call/call.ts';
import { isRecord } from '../call/check.ts';
import { useCall, useChange } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import { type Field, Form, type Values } from '../kit/form.tsx';
import { number, percent } from '../kit/format.ts';
import { FollowedJob, type Job } from '../kit/job.tsx';
import { minorMoney } from '../kit/minor.ts';
import { Card, Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';

const MODELS = ['last_click', 'first_click'] as const;
const POLICIES = ['code_wins', 'click_wins'] as const;
const SHOWN = 10;

const modelField = (value?: string): Field => ({
  name: 'model',
  label: 'After several clicks, pay',
  kind: 'select',
  isRequired: true,
  value: value ?? '',
  options: [
    ['last_click', 'The last one'],
    ['first_click', 'The first one'],
  ],
});
const policyField = (value?: string): Field => ({
  name: 'coupon_policy',
  label: 'With a code and a click, pay',
  kind: 'select',
  isRequired: true,
  value: value ?? '',
  options: [
    ['code_wins', 'The code'],
    ['click_wins', 'The click'],
  ],
});
const asNow = (field: Field): Field => ({
  ...field,
  isRequired: false,
  options: [['', 'As it is now'], ...(field.options ?? [])],
});

/** The rules that hold for all codes and links. */
function RulesForm() {
  const { data, error, refetch } = useCall('get_attribution_rules');
  const update = useChange('update_attribution_rules', ['get_attribution_rules']);
  const say = useSay();
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={5} />;
  const { model, coupon_policy, min_order, currency, updated_at } = data.data;
  return (
    <Form
      needs="update_attribution_rules"
      key={updated_at ?? 'new'}
      action="Save"
      fields={[
        modelField(model),
        policyField(coupon_policy),
        {
          name: 'min_order',
          label: `Smallest order that pays, in ${currency}`,
          kind: 'number',
          step: '0.01',
          value: min_order,
          hint: 'Empty: every order pays.',
        },
      ]}
      onSubmit={async (values) => {
        const body = changed(
          {
            model: values.choice('model', MODELS),
            coupon_policy: values.choice('coupon_policy', POLICIES),
            min_order: values.someNumber('min_order') ?? null,
          },
          data.data,
        );
        if (!isEmpty(body)) await update.mutateAsync({ body });
        say('Saved. New orders are attributed by these rules.');
      }}
    />
  );
}

type Simulated = Extract<Answer<'simulate_rules'>, { meta: unknown }>;
type Rules = Body<'simulate_rules'>['rules'];

function rulesIn(values: Values): Rules {
  const chosen = <T extends string>(name: string, among: readonly T[]) =>
    among.find((one) => one === values.text(name)) ?? null;
  return {
    attribution_days: values.someNumber('attribution_days') ?? null,
    hold_days: values.someNumber('hold_days') ?? null,
    rate: values.someNumber('rate') ?? null,
    min_order: values.someNumber('min_order') ?? null,
    model: chosen('model', MODELS),
    coupon_policy: chosen('coupon_policy', POLICIES),
  };
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
              cell: ({ order_id, reason }) => (
                <>
                  {order_id}
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

const isSimulated = (result: unknown): result is Simulated =>
  isRecord(result) && isRecord(result.data) && Array.isArray(result.data.totals) && isRecord(result.meta);

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
  const simulate = useChange('simulate_rules', []);
  const [found, setFound] = useState<Answer<'simulate_rules'>>();
  return (
    <>
      <p className="hint">
        Try other rules on your paid orders. Nothing changes. What you leave empty stays as it was for each order.
      </p>
      <Form
        action="Simulate"
        kind="plain"
        fields={[
          { name: 'from', label: 'From', kind: 'date', hint: 'By default the last 30 days.' },
          { name: 'to', label: 'To', kind: 'date' },
          { name: 'attribution_days', label: 'Attribution window, in days', kind: 'number', step: '1' },
          { name: 'hold_days', label: 'Review period, in days', kind: 'number', step: '1' },
          { name: 'rate', label: 'Commission, in percent', kind: 'number', step: '0.0001' },
          { name: 'min_order', label: 'Smallest order', kind: 'number', step: '0.01', hint: '0: every order pays.' },
          asNow({ ...modelField(), label: 'Several clicks' }),
          asNow({ ...policyField(), label: 'A code and a click' }),
        ]}
        onSubmit={async (values) => {
          const [from, to] = [values.some('from'), values.some('to')];
          const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
          setFound(await simulate.mutateAsync({ body: { ...period, rules: rulesIn(values) } }));
        }}
      />
      {found && 'meta' in found && <Result of={found} />}
      {found && !('meta' in found) && (
        <FollowedJob id={found.data.id} noun="simulation" done={(job) => <FoundByJob of={job} />} />
      )}
    </>
  );
}

export function AttributionCard() {
  return (
    <Card title="Attribution" id="attribution">
      <p className="hint">Who is paid for an order, when several codes or links could be.</p>
      <RulesForm />
    </Card>
  );
}

export function WhatIfCard() {
  return (
    <Card title="Simulate other rules" id="what-if">
      <WhatIf />
    </Card>
  );
}
