import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useCall } from '../call/use.ts';
import { CLICKS_COUNT, commissionsCount, ORDERS_COUNT, salesCount } from '../kit/counts.ts';
import { ago, money, number, time, versus } from '../kit/format.ts';
import { Card, Empty, Failure, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';
import { useFirstSteps } from './first-steps.tsx';
import { SalesTrend, useTrend } from './sales-trend.tsx';
import { StoreState } from './store-state.tsx';

interface Waiting {
  count: number | undefined;
  /** Shown in place of the count. */
  amount?: string;
  /** The singular and the plural. */
  text: readonly [one: string, more: string];
  link: (content: ReactNode) => ReactNode;
  /** Something is broken. */
  isUrgent?: boolean;
}

/** One of the page's counts. If some failed, the first error is shown. */
interface Counted {
  error: Error | null;
  data: unknown;
  refetch: () => unknown;
}

interface DecisionsProps {
  of: readonly Waiting[];
  counted: readonly Counted[];
  isReady: boolean;
}

function Decisions({ of, counted, isReady }: DecisionsProps) {
  const failedQueries = counted.filter(({ error, data }) => error !== null && data === undefined);
  const [first] = failedQueries;
  const again = () => {
    for (const { refetch } of failedQueries) void refetch();
  };
  if (first?.error) return <Failure error={first.error} again={again} />;
  const countedDecisions = of.filter(({ count }) => count !== undefined);
  const open = countedDecisions.filter(({ count }) => count !== 0);
  if (!isReady || counted.some(({ data }) => data === undefined)) return <Loading rows={2} />;
  if (open.length === 0) return <Empty title="Nothing to decide">New work appears here automatically.</Empty>;
  return (
    <ul className="decisions">
      {open.map(({ count, amount, text, link, isUrgent }) => (
        <li key={`${amount} ${text[1]}`} className={isUrgent ? 'urgent' : undefined}>
          {link(
            <>
              <strong>{amount ?? number(count)}</strong> {text[count === 1 ? 0 : 1]}
            </>,
          )}
        </li>
      ))}
    </ul>
  );
}

const REFETCH = { refetchMs: 30_000 };
/** The page tells of the customers whom an upgrade recorded for so many days. */
const NEWS_DAYS = 30;
const TREND = { days: 30, granularity: 'day' } as const;

/** A store that was not swept is silent also when it sells nothing. */
const needsAttention = ({ status, webhook_health: health, last_swept_at }: Row<'list_affiliate_stores'>): boolean =>
  status !== 'connected' ||
  ['failing', 'disabled'].includes(health.status) ||
  (health.status === 'silent' && last_swept_at !== null);

export function Home() {
  const { data: session } = useCall('get_session');
  const currency = session?.data.brand.currency ?? 'USD';
  const commissions = useCall('list_commissions', { query: { approvable: true, limit: 1 } }, REFETCH);
  const applications = useCall('list_applications', { query: { status: 'pending', limit: 1 } }, REFETCH);
  const deliverables = useCall('list_deliverables', { query: { status: 'submitted', limit: 1 } }, REFETCH);
  const payouts = useCall('list_payouts', { query: { settled: false, limit: 1 } }, REFETCH);
  const messages = useCall('list_conversations', { query: { unread: true, limit: 1 } }, REFETCH);
  const disputes = useCall('list_disputes', { query: { status: 'open', limit: 1 } }, REFETCH);
  const stores = useCall('list_affiliate_stores', { query: { limit: 100 } }, REFETCH);
  const webhooks = useCall('list_webhooks', { query: { limit: 100 } }, REFETCH);
  const may = useMay();
  // The oldest is the first that expires.
  const plans = useCall(
    'list_plans',
    { query: { status: 'open', sort: 'oldest', limit: 1 } },
    { ...REFETCH, enabled: may('list_plans') },
  );
  const planEnd = plans.data?.data[0]?.expires_at;
  const mayErase = may('list_data_requests');
  const rights = useCall(
    'list_data_requests',
    { query: { state: 'open', limit: 1 } },
    { ...REFETCH, enabled: mayErase },
  );
  const newsSince = toUtcDay(Date.now() - NEWS_DAYS * DAY_MS);
  const upgrades = useCall('list_customers', { query: { by_upgrade: true, created_after: newsSince, limit: 1 } });
  const duePreview = useCall('preview_payouts', { query: { limit: 1 } }, REFETCH);
  const { now: figures, was } = useTrend(TREND);
  const failingWebhooks = webhooks.data?.data.filter(({ status }) => status === 'failing');
  const brokenStores = stores.data?.data.filter(needsAttention);
  // Both at once, so that nothing jumps when the earlier figures come.
  const summary = was.isPending ? undefined : figures.data?.summary;
  const earlier = was.data?.summary;
  const payable = duePreview.data?.summary.by_currency.filter(({ total }) => total > 0) ?? [];
  const firstSteps = useFirstSteps();
  const head = <PageHead title="Home" />;
  // They come first, so nothing else is shown before it is known whether there are any.
  if (firstSteps === undefined) {
    return (
      <>
        {head}
        <Loading />
      </>
    );
  }
  return (
    <>
      {head}
      {firstSteps}
      <Card title="Needs your decision">
        <Decisions
          counted={[commissions, applications, deliverables, payouts, messages, disputes, stores]}
          isReady={!duePreview.isPending}
          of={[
            ...payable.map(
              ({ currency: of, total, payees }): Waiting => ({
                count: payees,
                amount: money(total, of),
                text: ['due to one creator', `due to ${number(payees)} creators`],
                link: (content) => <Link to="/payouts">{content}</Link>,
              }),
            ),
            {
              count: commissions.data?.pagination.total,
              text: ['commission to approve', 'commissions to approve'],
              link: (content) => (
                <Link to="/commissions" search={{ approvable: 'true' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: applications.data?.pagination.total,
              text: ['application to answer', 'applications to answer'],
              link: (content) => (
                <Link to="/applications" search={{ status: 'pending' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: deliverables.data?.pagination.total,
              text: ['deliverable to review', 'deliverables to review'],
              link: (content) => (
                <Link to="/deliverables" search={{ status: 'submitted' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: plans.data?.pagination.total,
              text: planEnd
                ? [`plan to review, expires ${time(planEnd)}`, `plans to review, the first expires ${time(planEnd)}`]
                : ['plan to review', 'plans to review'],
              link: (content) => (
                <Link to="/agents" search={{ status: 'open' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: messages.data?.pagination.total,
              text: ['conversation to read', 'conversations to read'],
              link: (content) => (
                <Link to="/conversations" search={{ unread: 'true' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: disputes.data?.pagination.total,
              text: ['dispute to answer', 'disputes to answer'],
              link: (content) => (
                <Link to="/disputes" search={{ status: 'open' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: rights.data?.pagination.total,
              text: ['erasure request', 'erasure requests'],
              link: (content) => (
                <Link to="/rights" search={{ state: 'open' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: payouts.data?.pagination.total,
              text: ['payout to settle', 'payouts to settle'],
              link: (content) => (
                <Link to="/payouts" search={{ settled: 'false' }}>
                  {content}
                </Link>
              ),
            },
            {
              count: upgrades.data?.pagination.total ?? 0,
              text: ['customer to check', 'customers to check'],
              link: (content) => (
                <Link to="/customers" search={{ view: 'each', by_upgrade: 'true', created_after: newsSince }}>
                  {content}
                </Link>
              ),
            },
            {
              count: brokenStores?.length,
              isUrgent: true,
              text: ['store that needs attention', 'stores that need attention'],
              link: (content) => <Link to="/stores">{content}</Link>,
            },
            {
              count: failingWebhooks?.length,
              isUrgent: true,
              text: ['failing webhook', 'failing webhooks'],
              link: (content) => (
                <Link
                  to="/webhooks"
                  search={failingWebhooks?.length === 1 ? { open: failingWebhooks[0]?.id, state: 'failed' } : {}}
                >
                  {content}
                </Link>
              ),
            },
          ]}
        />
      </Card>
      <Card title="The last 30 days" action={<Link to="/analytics">All analytics</Link>}>
        {figures.error && <Failure error={figures.error} again={() => void figures.refetch()} />}
        {!figures.error && !summary && <Loading rows={3} />}
        {summary && (
          <Stats>
            <Stat
              label="Sales"
              why={salesCount(currency)}
              value={money(summary.total_revenue, currency)}
              note={versus(summary.total_revenue, earlier?.total_revenue)}
            />
            <Stat
              label="Commissions"
              why={commissionsCount(currency)}
              value={money(summary.total_commissions, currency)}
              note={versus(summary.total_commissions, earlier?.total_commissions)}
            />
            <Stat
              label="Clicks"
              why={CLICKS_COUNT}
              value={number(summary.total_clicks)}
              note={versus(summary.total_clicks, earlier?.total_clicks)}
            />
            <Stat
              label="Orders"
              why={ORDERS_COUNT}
              value={number(summary.total_conversions)}
              note={versus(summary.total_conversions, earlier?.total_conversions)}
            />
            <Stat
              label="Active creators"
              value={number(summary.active_creators)}
              note={versus(summary.active_creators, earlier?.active_creators)}
            />
          </Stats>
        )}
        <SalesTrend {...TREND} />
      </Card>
      {stores.data && stores.data.data.length > 0 && (
        <Card title="Stores" action={<Link to="/stores">All stores</Link>}>
          <ul className="plain">
            {stores.data.data.map((store) => (
              <li key={store.id} className="row">
                <strong>{store.name}</strong> <StoreState of={store} />
                {store.webhook_health.last_received_at !== null && (
                  <span className="muted">last heard from {ago(store.webhook_health.last_received_at)}</span>
                )}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}
