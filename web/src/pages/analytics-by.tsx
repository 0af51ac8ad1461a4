import type { Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { money, number } from '../kit/format.ts';
import { Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';

type OfCampaign = Row<'list_campaign_performance'>;
type OfLink = Row<'list_affiliate_performance'>;
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

const useCampaigns = ({ from, to }: Period, limit: number) =>
  useCall('list_campaign_performance', { query: { date_from: from, date_to: to, limit } });

export function ByCampaign({ from, to, before }: ByProps) {
  const now = useCampaigns({ from, to }, SHOWN);
  const was = useCampaigns(before, 100);
  if (now.error) return <Failure error={now.error} again={() => void now.refetch()} />;
  if (!now.data) return <Loading rows={4} />;
  const keyOf = ({ campaign_id, currency }: OfCampaign) => `${campaign_id} ${currency}`;
  const old = new Map(was.data?.data.map((row) => [keyOf(row), row]));
  // A campaign beyond the page limit may still have had earlier sales.
  const none = was.data?.pagination.has_more ? undefined : 0;
  return (
    <>
      <PlainTable
        caption="Analytics by campaign"
        rows={now.data.data}
        keyOf={keyOf}
        columns={[
          {
            head: 'Campaign',
            cell: ({ campaign_id, campaign_title }) => campaign_title ?? campaign_id ?? 'No campaign',
          },
          { head: 'Clicks', cell: ({ clicks }) => number(clicks), isNumber: true, isWide: true },
          { head: 'Orders', cell: ({ conversions }) => number(conversions), isNumber: true },
          {
            head: 'Sales',
            cell: ({ revenue_minor, currency }) => money(major(revenue_minor, currency), currency),
            isNumber: true,
          },
          {
            head: 'Previous',
            cell: ({ currency, ...row }) => {
              const minor = old.get(keyOf({ currency, ...row }))?.revenue_minor ?? none;
              return was.data && money(minor === undefined ? undefined : major(minor, currency), currency);
            },
            isNumber: true,
            isWide: true,
          },
        ]}
      />
      {now.data.pagination.has_more && <p className="hint">The {number(SHOWN)} with the highest sales.</p>}
    </>
  );
}

export function ByLink({ from, to, before }: ByProps) {
  const now = useCall('list_affiliate_performance', {
    query: { date_from: from, date_to: to, sort: 'revenue', limit: SHOWN },
  });
  const rows = now.data?.data ?? [];
  const ids = [...new Set(rows.map(({ link_id }) => link_id))].join(',');
  const was = useCall(
    'list_affiliate_performance',
    { query: { date_from: before.from, date_to: before.to, link_ids: ids, limit: 100 } },
    { enabled: ids !== '' },
  );
  if (now.error) return <Failure error={now.error} again={() => void now.refetch()} />;
  if (!now.data) return <Loading rows={4} />;
  const keyOf = ({ link_id, currency }: OfLink) => `${link_id} ${currency}`;
  const old = new Map(was.data?.data.map((row) => [keyOf(row), row]));
  return (
    <>
      <PlainTable
        caption="Analytics by link and code"
        rows={rows}
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
            head: 'Previous',
            cell: (row) =>
              was.data && money(major(old.get(keyOf(row))?.revenue_minor ?? 0, row.currency), row.currency),
            isNumber: true,
            isWide: true,
          },
        ]}
      />
      {now.data.pagination.has_more && <p className="hint">The {number(SHOWN)} with the highest sales.</p>}
    </>
  );
}
