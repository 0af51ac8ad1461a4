import { useCall } from '../call/use.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Card, Failure, Loading } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';

const labels = { off: 'Nothing', flag: 'Flag it', hold: 'Flag it and wait for a review' } as const;

const FIELDS = [
  {
    name: 'self_referral.action',
    label: 'The creator buys',
    hint: 'The customer of the order has the creator’s own email address.',
    labels,
  },
  { name: 'returning_customer.action', label: 'The customer had bought before', labels },
  { name: 'disposable_address.action', label: 'A disposable email address', labels },
  { name: 'velocity', label: 'Many orders at once' },
  {
    name: 'velocity.action',
    label: 'Many orders within minutes',
    hint: 'One customer, or one code or link, has more orders than these within the minutes.',
    labels,
  },
  { name: 'velocity.minutes' },
  { name: 'velocity.customer_orders', label: 'Orders of one customer' },
  { name: 'velocity.link_orders', label: 'Orders by one code or link' },
  { name: 'code_leak', label: 'Leaked codes' },
  {
    name: 'code_leak.action',
    label: 'The code is probably public',
    hint: 'Links and codes shows a score from 0 to 100 for codes that may have leaked.',
    labels,
  },
  { name: 'code_leak.score', label: 'From a score of' },
  { name: 'refund_rate', label: 'Refunds' },
  { name: 'refund_rate.action', label: 'Many orders were refunded', labels },
  { name: 'refund_rate.percent', label: 'From this percentage' },
  { name: 'refund_rate.orders', label: 'Of the last orders by the code or link' },
  { name: 'forbidden_referrer', label: 'Pages' },
  { name: 'forbidden_referrer.action', label: 'The click came from a forbidden page', labels },
  {
    name: 'forbidden_referrer.hosts',
    label: 'Forbidden hosts',
    kind: 'textarea',
    hint: 'One a line, such as coupons.example.',
  },
] as const;

function RulesForm() {
  const { data, error, refetch } = useCall('get_fraud_rules');
  const say = useSay();
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={21} />;
  return (
    <OperationForm
      operation="update_fraud_rules"
      key={data.data.updated_at ?? 'new'}
      action="Save"
      item={data.data}
      fields={FIELDS}
      shown={['get_fraud_rules']}
      onDone={() => say('Saved. The rules apply to new orders.')}
    />
  );
}

export function FraudRulesCard() {
  return (
    <Card>
      <RulesForm />
    </Card>
  );
}
