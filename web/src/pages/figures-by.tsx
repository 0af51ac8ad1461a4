import { useQuery } from '@tanstack/react-query';
import { call, type Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { money, number } from '../kit/format.ts';
import { Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';

type Figure = Row<'list_affiliate_performance'>;
const PAGE = 100;
/** Pages of links that are summed up here, at most. */
const MOST = 20;
const SHOWN = 50;

interface Period {
  from: string;
  to: string;
}
interface ByProps extends Period {
  before: Period;
}

/** Minor units as the currency counts them: yen have none. */
function major(minor: number, currency: string): number {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return minor / 10 ** digits;
}

async function readAll({ from, to }: Period): Promise<{ rows: Figure[]; isWhole: boolean }> {
  const rows: Figure[] = [];
  for (let page = 1; page <= MOST; page += 1) {
    const query = { date_from: from, date_to: to, limit: PAGE, page };
    const { data, pagination } = await call('list_affiliate_performance', { query });
    rows.push(...data);
    if (!pagination.has_more) return { rows, isWhole: true };
  }
  return { rows, isWhole: false };
}

const useFigures = (period: Period) =>
  useQuery({ queryKey: ['list_affiliate_performance', 'all', period], queryFn: () => readAll(period) });

interface Sum {
  key: string;
  campaignId: string | null;
  currency: string;
  clicks: number;
  orders: number;
  sales: number;
}

/** A row a campaign and currency, the one that sold most first. */
function byCampaign(rows: readonly Figure[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const { campaign_id: campaignId, currency, clicks, conversions, revenue_minor } of rows) {
    const key = `${campaignId} ${currency}`;
    const sum = sums.get(key) ?? { key, campaignId, currency, clicks: 0, orders: 0, sales: 0 };
    sums.set(key, {
      ...sum,
      clicks: sum.clicks + clicks,
      orders: sum.orders + conversions,
      sales: sum.sales + revenue_minor,
    });
  }
  return [...sums.values()].sort((a, b) => b.sales - a.sales || b.clicks - a.clicks);
}

export function ByCampaign({ from, to, before }: ByProps) {
  const now = useFigures({ from, to });
  const was = useFigures(before);
  const campaigns = useCall('list_campaigns', { query: { limit: 100 } }).data?.data ?? [];
  if (now.error) return <Failure error={now.error} again={() => void now.refetch()} />;
  if (!now.data) return <Loading rows={4} />;
  const old = new Map(byCampaign(was.data?.rows ?? []).map((sum) => [sum.key, sum]));
  const nameOf = (id: string | null) =>
    id === null ? 'Of no campaign' : (campaigns.find((campaign) => campaign.id === id)?.title ?? id);
  return (
    <>
      <PlainTable
        caption="Figures by campaign"
        rows={byCampaign(now.data.rows)}
        keyOf={({ key }) => key}
        columns={[
          { head: 'Campaign', cell: ({ campaignId }) => nameOf(campaignId) },
          { head: 'Clicks', cell: ({ clicks }) => number(clicks), isNumber: true, isWide: true },
          { head: 'Orders', cell: ({ orders }) => number(orders), isNumber: true },
          { head: 'Sales', cell: ({ sales, currency }) => money(major(sales, currency), currency), isNumber: true },
          {
            head: 'Before',
            cell: ({ key, currency }) => was.data && money(major(old.get(key)?.sales ?? 0, currency), currency),
            isNumber: true,
            isWide: true,
          },
        ]}
      />
      {!now.data.isWhole && <p className="hint">Of the newest {number(MOST * PAGE)} links and codes.</p>}
    </>
  );
}

export function ByLink({ from, to, before }: ByProps) {
  const now = useFigures({ from, to });
  const was = useFigures(before);
  if (now.error) return <Failure error={now.error} again={() => void now.refetch()} />;
  if (!now.data) return <Loading rows={4} />;
  const keyOf = ({ link_id, currency }: Figure) => `${link_id} ${currency}`;
  const old = new Map(was.data?.rows.map((row) => [keyOf(row), row]));
  const rows = [...now.data.rows].sort((a, b) => b.revenue_minor - a.revenue_minor || b.clicks - a.clicks);
  return (
    <>
      <PlainTable
        caption="Figures by link and code"
        rows={rows.slice(0, SHOWN)}
        keyOf={keyOf}
        columns={[
          {
            head: 'Link or code',
            cell: ({ value, creator_name, creator_email }) => (
              <>
                {value}
                <span className="second">{creator_name ?? creator_email}</span>
              </>
            ),
          },
          { head: 'Clicks', cell: ({ clicks }) => number(clicks), isNumber: true, isWide: true },
          { head: 'Orders', cell: ({ conversions }) => number(conversions), isNumber: true },
          {
            head: 'Sales',
            cell: ({ revenue_minor, currency }) => money(major(revenue_minor, currency), currency),
            isNumber: true,
          },
          {
            head: 'Before',
            cell: (row) =>
              was.data && money(major(old.get(keyOf(row))?.revenue_minor ?? 0, row.currency), row.currency),
            isNumber: true,
            isWide: true,
          },
        ]}
      />
      {rows.length > SHOWN && <p className="hint">The {number(SHOWN)} that sold most.</p>}
    </>
  );
}
