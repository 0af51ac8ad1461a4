import { lazy, Suspense } from 'react';
import type { Query } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { money, today } from '../kit/format.ts';
import { Failure, Loading } from '../kit/parts.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';

const Chart = lazy(() => import('../kit/chart.tsx'));

interface TrendProps {
  /** Whose sales: everyone's by default. */
  only?: Query<'get_analytics'>;
  days: number;
  granularity: 'day' | 'week';
}

/** The figures of the last days, and those of the same length before. */
export function useTrend({ only = {}, days, granularity }: TrendProps) {
  const lastDay = Date.parse(today());
  // A week that has just begun would look like a fall.
  const last = granularity === 'day' ? lastDay : lastDay - (new Date(lastDay).getUTCDay() || 7) * DAY_MS;
  const period = (daysAgo: number) => ({
    from: toUtcDay(last - (daysAgo + days - 1) * DAY_MS),
    to: toUtcDay(last - daysAgo * DAY_MS),
  });
  const now = useCall('get_analytics', { query: { ...only, ...period(0), granularity } });
  const was = useCall('get_analytics', { query: { ...only, ...period(days), granularity } });
  return { now, was };
}

/** Sales of the last days in the brand's currency, beside those before. */
export function SalesTrend(props: TrendProps) {
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const { now, was } = useTrend(props);
  if (now.error) return <Failure error={now.error} again={() => void now.refetch()} />;
  if (!now.data || was.isPending) return <Loading rows={6} />;
  const past = was.data?.trends ?? [];
  // Sales that began late in that period are no comparison, but a line along zero.
  const isCompared = past.slice(0, Math.ceil(past.length / 2)).some(({ revenue }) => revenue !== 0);
  const earlier = isCompared ? past : undefined;
  return (
    <Suspense fallback={<Loading rows={6} />}>
      <Chart
        label="Sales"
        points={now.data.trends.map(({ date, revenue }, i) => ({
          date,
          value: revenue,
          was: earlier?.[i]?.revenue,
          wasDate: earlier?.[i]?.date,
        }))}
        show={(value) => money(value, currency)}
        currency={currency}
        by={props.granularity}
      />
    </Suspense>
  );
}
