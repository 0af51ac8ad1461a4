import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useCall } from '../call/use.ts';
import { Checklist } from '../kit/checklist.tsx';
import { Button, Card } from '../kit/parts.tsx';

interface Step {
  /** Undefined while it is not known. */
  isDone: boolean | undefined;
  link: ReactNode;
  hint: string;
  needs: OperationId;
}

const ONE = { query: { limit: 1 } };
const toStorageKey = (brandId: string) => `rollcall-first-steps-${brandId}`;

const isDismissed = (brandId: string) => localStorage.getItem(toStorageKey(brandId)) !== null;

/** A new brand's first steps, ticked by facts. Sample data would tick all of them. Undefined while loading. */
export function useFirstSteps(): ReactNode | undefined {
  const session = useCall('get_session').data;
  const brandId = session?.data.brand.id ?? '';
  const [dismissedBrandId, setDismissedBrandId] = useState('');
  const isOver = session?.data.brand.has_sample === true || dismissedBrandId === brandId || isDismissed(brandId);
  const may = useMay();
  const enabled = { enabled: session !== undefined && !isOver };
  const getTotal = (call: { data?: { pagination: { total: number } } | undefined }) => call.data?.pagination.total;
  const counts = [
    useCall('list_affiliate_stores', ONE, enabled),
    useCall('list_roster', ONE, enabled),
    useCall('list_affiliate_links', ONE, enabled),
    useCall('list_payouts', ONE, enabled),
    useCall('list_people', ONE, enabled),
    useCall('list_keys', ONE, enabled),
  ];
  const [stores, roster, links, payouts, people, keys] = counts.map(getTotal);
  const settings = useCall('get_brand', {}, enabled);
  const rate = settings.data?.data.settings.default_commission_rate;
  const over = (least: number, total: number | undefined) => (total === undefined ? undefined : total > least);
  const hasTerms = payouts === undefined || rate === undefined ? undefined : payouts > 0 || rate > 0;
  const steps: readonly Step[] = [
    {
      isDone: over(0, stores),
      link: <Link to="/stores">Connect a store</Link>,
      hint: 'Shopify, WooCommerce or your own. Its orders are matched with your creators.',
      needs: 'connect_affiliate_store',
    },
    {
      isDone: over(0, roster),
      link: <Link to="/roster">Add creators</Link>,
      hint: 'By handle, by email address, or from a file.',
      needs: 'add_to_roster',
    },
    {
      isDone: over(0, links),
      link: <Link to="/links">Make a link or a code</Link>,
      hint: 'It tells you which creator an order came from.',
      needs: 'create_affiliate_link',
    },
    {
      isDone: hasTerms,
      link: <Link to="/settings">Set up payouts</Link>,
      hint: 'Your currency and the commission that creators earn by default.',
      needs: 'update_brand',
    },
    {
      isDone: over(1, people),
      link: <Link to="/people">Invite people</Link>,
      hint: 'Colleagues who manage the work, or only look on.',
      needs: 'invite_person',
    },
    {
      isDone: over(0, keys),
      link: <Link to="/keys">Make a key</Link>,
      hint: 'For your own programs and agents.',
      needs: 'create_key',
    },
  ];
  if (session === undefined) return undefined;
  if (isOver) return null;
  const own = steps.filter(({ needs }) => may(needs));
  if (own.some(({ isDone }) => isDone === undefined)) {
    return [...counts, settings].some(({ error }) => error !== null) ? null : undefined;
  }
  const close = () => {
    localStorage.setItem(toStorageKey(brandId), 'dismissed');
    setDismissedBrandId(brandId);
  };
  if (own.every(({ isDone }) => isDone)) return null;
  return (
    <Card title="First steps" action={<Button onPress={close}>Dismiss</Button>}>
      <Checklist
        of={own.map(({ isDone, link, hint, needs }) => ({ key: needs, isDone: isDone === true, name: link, hint }))}
      />
    </Card>
  );
}
