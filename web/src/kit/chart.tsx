import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { brandZone, compact, compactMoney, shortDay, shortHour, today } from './format.ts';
import { DAY_MS, toUtcDay } from './utc-day.ts';

const ranges = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** The time that a point covers; a `reading` was taken at a moment. */
type By = 'hour' | 'day' | 'week' | 'month' | 'reading';

/** The last day that a point counts. Weeks end on Sunday. */
function getPointEnd(date: string, by: By): string {
  const at = new Date(date);
  if (by === 'week') return toUtcDay(at.getTime() + ((7 - at.getUTCDay()) % 7) * DAY_MS);
  if (by === 'month') return toUtcDay(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0));
  return date.slice(0, 10);
}

/** True while the time of a point is not over. */
function isOpen(date: string, by: By): boolean {
  if (by === 'hour') return Date.parse(date) > Date.now() - 3_600_000;
  return by !== 'reading' && getPointEnd(date, by) >= today();
}

const formatRange = (from: string, to: string) => ranges.formatRange(new Date(from), new Date(to));

export interface Point {
  date: string;
  value: number;
  /** The value in the previous period. */
  was?: number | undefined;
}

/** Round values from zero to above the highest: 0, 500, 1,000, 1,500. */
function buildTicks(points: readonly Point[]): number[] {
  const values = points.flatMap(({ value, was = 0 }) => [value, was]);
  const [low, high] = [Math.min(0, ...values), Math.max(4, ...values)];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const first = Math.floor(low / step);
  return Array.from({ length: Math.ceil(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

/** An SVG chart that arrow keys navigate; a table below it has the same figures. */
export default function Chart({
  label,
  points,
  show,
  by = 'day',
  within,
  currency,
  before = 'Previous period',
  zone = brandZone(),
}: {
  label: string;
  points: readonly Point[];
  show: (value: number) => string;
  /** The time that each point covers. */
  by?: By;
  /** The days that are counted, of which the first and the last point may have only some. */
  within?: { from: string; to: string };
  /** The currency of the values, for the axis. */
  currency?: string;
  /** The name of the period that `was` is of. */
  before?: string;
  /** The time zone of the days; the brand's if omitted. */
  zone?: string;
}) {
  const [first, last] = [points[0], points.at(-1)];
  const ticks = buildTicks(points);
  const isCompared = points.some(({ was }) => was !== undefined);
  const isRunning = last !== undefined && isOpen(last.date, by);
  const clampStart = (date: string) => (within && within.from > date ? within.from : date);
  const clampEnd = (date: string) => {
    const end = getPointEnd(date, by);
    return within && within.to < end ? within.to : end;
  };
  const namePoint = (date: string) => {
    if (by === 'hour') return shortHour(date);
    return by === 'week' || by === 'month' ? formatRange(clampStart(date), clampEnd(date)) : shortDay(date);
  };
  // With many hours, only the days are named.
  const midnights = by === 'hour' && points.length > 48 ? points.filter(({ date }) => date.includes('T00:00')) : [];
  const drawn = points.map((point, i) => ({ ...point, over: i === points.length - 1 ? undefined : point.value }));
  return (
    <div className="chart">
      <p className="legend" aria-hidden>
        <span className="key now" /> {label}
        {first && last && (
          <span className="muted">{`${formatRange(clampStart(first.date), clampEnd(last.date))}${isRunning ? ' so far' : ''}, ${zone}`}</span>
        )}
        {isCompared && (
          <span className="nowrap">
            <span className="key before" /> {before}
          </span>
        )}
      </p>
      <ResponsiveContainer width="100%" height={220}>
        <AreaChart data={drawn} title={`${label} by date`} margin={{ left: 0, right: 8, top: 8, bottom: 0 }}>
          <CartesianGrid vertical={false} className="chart-grid" />
          <XAxis
            dataKey="date"
            {...(midnights.length > 0 ? { ticks: midnights.map(({ date }) => date) } : {})}
            tickFormatter={by === 'hour' && midnights.length === 0 ? shortHour : shortDay}
            minTickGap={32}
            interval="equidistantPreserveStart"
            fontSize={12}
            tickLine={false}
            axisLine={false}
          />
          <YAxis
            width={56}
            ticks={ticks}
            domain={[ticks[0] ?? 0, ticks.at(-1) ?? 1]}
            tickFormatter={(value: number) => (currency === undefined ? compact(value) : compactMoney(value, currency))}
            fontSize={12}
            tickLine={false}
            axisLine={false}
          />
          <Tooltip
            itemStyle={{ color: 'inherit' }}
            formatter={(value, name) => [show(Number(value)), name]}
            labelFormatter={(date) => namePoint(String(date))}
          />
          <Area
            dataKey="was"
            name={before}
            className="chart-before"
            strokeWidth={2}
            strokeDasharray="4 4"
            isAnimationActive={false}
          />
          <Area
            dataKey="value"
            name={label}
            className="chart-area"
            strokeWidth={2}
            isAnimationActive={false}
            {...(isRunning ? { strokeDasharray: '4 4' } : {})}
          />
          {isRunning && (
            <Area
              dataKey="over"
              className="chart-over"
              strokeWidth={2}
              isAnimationActive={false}
              tooltipType="none"
              activeDot={false}
            />
          )}
        </AreaChart>
      </ResponsiveContainer>
      <details>
        <summary>Show as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
        <section className="chart-table" aria-label={`${label} by date`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Date</th>
                <th scope="col" className="number">
                  {label}
                </th>
                {isCompared && (
                  <th scope="col" className="number">
                    {before}
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {points.map(({ date, value, was }) => (
                <tr key={date}>
                  <td>{namePoint(date)}</td>
                  <td className="number">{show(value)}</td>
                  {isCompared && <td className="number">{was === undefined ? '–' : show(was)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </div>
  );
}
