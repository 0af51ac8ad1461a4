import type { Query, Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { useFilters } from '../kit/filters.tsx';
import { number, words } from '../kit/format.ts';
import { Card, Failure, Loading } from '../kit/parts.tsx';
import { siteName } from '../kit/platforms.ts';
import { useIsPhone } from '../kit/wide.ts';

type BreakdownQuery = Query<'get_analytics_breakdown'>;
type Rank = Row<'get_analytics_breakdown'>;

const SHOWN = 5;
const SHOWN_ON_PHONE = 3;

/** The breakdowns beside the list: the name of each, the filter that a row sets, and the row's name. */
const RANKS = [
  { by: 'link', title: 'Top links', filter: 'link_id', name: ({ key, label }: Rank) => label ?? key },
  { by: 'country', title: 'Countries', filter: 'country', name: ({ key, label }: Rank) => label ?? key },
  { by: 'referrer', title: 'Referrers', filter: 'referrer', name: ({ key }: Rank) => key && siteName(key) },
  { by: 'device', title: 'Devices', filter: 'device', name: ({ key }: Rank) => key && words(key) },
] as const;

/** A row for each key: clicks on links of several currencies count together. */
function sumUp(rows: readonly Rank[]): readonly Rank[] {
  const sums = new Map<string | null, Rank>();
  for (const row of rows) sums.set(row.key, { ...row, clicks: row.clicks + (sums.get(row.key)?.clicks ?? 0) });
  return [...sums.values()].filter(({ clicks }) => clicks > 0).toSorted((one, other) => other.clicks - one.clicks);
}

function RankCard({ of: { by, title, filter, name }, query }: { of: (typeof RANKS)[number]; query: BreakdownQuery }) {
  const { set } = useFilters();
  const { data, error, refetch } = useCall('get_analytics_breakdown', {
    query: { ...query, by, sort: 'clicks', limit: 2 * SHOWN },
  });
  const rows = sumUp(data?.data ?? []).slice(0, useIsPhone() ? SHOWN_ON_PHONE : SHOWN);
  const most = rows[0]?.clicks ?? 1;
  return (
    <Card title={title}>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading rows={3} />}
      {data && rows.length === 0 && <p className="hint">None</p>}
      <ul className="plain">
        {rows.map((row) => {
          const text = name(row) ?? 'Unknown';
          return (
            <li key={row.key} className="rank">
              {row.key === null ? (
                <span className="muted">{text}</span>
              ) : (
                <button
                  type="button"
                  className="link one-line"
                  title={row.key}
                  onClick={() => set(filter, row.key ?? '')}
                >
                  {text}
                </button>
              )}
              <span className="number">{number(row.clicks)}</span>
              <span className="part" aria-hidden>
                <span style={{ inlineSize: `${(100 * row.clicks) / most}%` }} />
              </span>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** The sources of a period's clicks. A row narrows the page to itself. */
export const ClickRanks = ({ query }: { query: BreakdownQuery }) => (
  <div className="ranks">
    {RANKS.map((rank) => (
      <RankCard key={rank.by} of={rank} query={query} />
    ))}
  </div>
);
