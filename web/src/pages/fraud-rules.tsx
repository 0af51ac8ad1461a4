import type { Answer } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import { type Field, Form, type Group } from '../kit/form.tsx';
import { Card, Failure, Loading } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';

type Rules = Answer<'get_fraud_rules'>['data'];
const ACTIONS = ['off', 'flag', 'hold'] as const;

const actionField = (rule: string, label: string, value: string, hint?: string): Field => ({
  name: `${rule}.action`,
  label,
  kind: 'select',
  isRequired: true,
  value,
  ...(hint === undefined ? {} : { hint }),
  options: [
    ['off', 'Nothing'],
    ['flag', 'Flag it'],
    ['hold', 'Flag it and wait for a review'],
  ],
});
const limit = (name: string, label: string, value: number): Field => ({
  name,
  label,
  value,
  kind: 'number',
  step: '1',
  isRequired: true,
});

const buildGroups = (rules: Rules): Group[] => [
  {
    key: 'own',
    legend: 'Customers',
    fields: [
      actionField(
        'self_referral',
        'The creator buys',
        rules.self_referral.action,
        'The customer of the order has the creator’s own e-mail address.',
      ),
      actionField('returning_customer', 'The customer had bought before', rules.returning_customer.action),
      actionField('disposable_address', 'A disposable e-mail address', rules.disposable_address.action),
    ],
  },
  {
    key: 'velocity',
    legend: 'Many orders at once',
    fields: [
      actionField(
        'velocity',
        'Many orders within minutes',
        rules.velocity.action,
        'One customer, or one code or link, has more orders than these within the minutes.',
      ),
      limit('velocity.minutes', 'Minutes', rules.velocity.minutes),
      limit('velocity.customer_orders', 'Orders of one customer', rules.velocity.customer_orders),
      limit('velocity.link_orders', 'Orders by one code or link', rules.velocity.link_orders),
    ],
  },
  {
    key: 'code_leak',
    legend: 'Leaked codes',
    fields: [
      actionField(
        'code_leak',
        'The code is probably public',
        rules.code_leak.action,
        'Links and codes shows a score from 0 to 100 for codes that may have leaked.',
      ),
      limit('code_leak.score', 'From a score of', rules.code_leak.score),
    ],
  },
  {
    key: 'refund_rate',
    legend: 'Refunds',
    fields: [
      actionField('refund_rate', 'Many orders were refunded', rules.refund_rate.action),
      limit('refund_rate.percent', 'From this percentage', rules.refund_rate.percent),
      limit('refund_rate.orders', 'Of the last orders by the code or link', rules.refund_rate.orders),
    ],
  },
  {
    key: 'forbidden_referrer',
    legend: 'Pages',
    fields: [
      actionField('forbidden_referrer', 'The click came from a forbidden page', rules.forbidden_referrer.action),
      {
        name: 'forbidden_referrer.hosts',
        label: 'Forbidden hosts',
        kind: 'textarea',
        value: rules.forbidden_referrer.hosts.join('\n'),
        hint: 'One a line, such as coupons.example.',
      },
    ],
  },
];

function RulesForm() {
  const { data, error, refetch } = useCall('get_fraud_rules');
  const update = useChange('update_fraud_rules', ['get_fraud_rules']);
  const say = useSay();
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={21} />;
  const rules = data.data;
  return (
    <Form
      needs="update_fraud_rules"
      key={rules.updated_at ?? 'new'}
      action="Save"
      fields={[]}
      groups={buildGroups(rules)}
      onSubmit={async (values) => {
        const action = (rule: string) => values.choice(`${rule}.action`, ACTIONS);
        const body = changed(
          {
            self_referral: { action: action('self_referral') },
            returning_customer: { action: action('returning_customer') },
            disposable_address: { action: action('disposable_address') },
            velocity: {
              action: action('velocity'),
              minutes: values.number('velocity.minutes'),
              customer_orders: values.number('velocity.customer_orders'),
              link_orders: values.number('velocity.link_orders'),
            },
            code_leak: { action: action('code_leak'), score: values.number('code_leak.score') },
            refund_rate: {
              action: action('refund_rate'),
              percent: values.number('refund_rate.percent'),
              orders: values.number('refund_rate.orders'),
            },
            forbidden_referrer: {
              action: action('forbidden_referrer'),
              hosts: values.list('forbidden_referrer.hosts'),
            },
          },
          rules,
        );
        if (!isEmpty(body)) await update.mutateAsync({ body });
        say('Saved. The rules apply to new orders.');
      }}
    />
  );
}

export function FraudRulesCard() {
  return (
    <Card title="Fraud rules" id="fraud">
      <p className="hint">
        What happens to the commission of a suspicious order. Existing commissions keep their flags.
      </p>
      <RulesForm />
    </Card>
  );
}
