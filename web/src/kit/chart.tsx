import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { compact, compactMoney, shortDay } from './format.ts';
import { today } from './utc-day.ts';

export interface Point {
  date: string;
  value: number;
  /** The value in the previous period. */
  was?: number | undefined;
}

/** Round values from zero to above the highest: 0, 500, 1,000, 1,500. */
function ticksOf(points: readonly Point[]): number[] {
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
  dateOf = shortDay,
  currency,
  before = 'Previous period',
}: {
  label: string;
  points: readonly Point[];
  show: (value: number) => string;
  dateOf?: (date: string) => string;
  /** The currency of the values, for the axis. */
  currency?: string;
  /** The name of the period that `was` is of. */
  before?: string;
}) {
  const [first, last] = [points[0], points.at(-1)];
  const ticks = ticksOf(points);
  const isCompared = points.some(({ was }) => was !== undefined);
  return (
    <div className="chart">
      <p className="legend" aria-hidden>
        <span className="key now" /> {label}
        {first && last && (
          <span className="muted">{`${dateOf(first.date)} – ${dateOf(last.date)}${last.date === today() ? ' so far' : ''}, UTC`}</span>
        )}
        {isCompared && (
          <span className="nowrap">
            <span className="key before" /> {before}
          </span>
        )}
      </p>
      <ResponsiveContainer width="100%" height={220}>
        <AreaChart data={[...points]} title={`${label} by date`} margin={{ left: 0, right: 8, top: 8, bottom: 0 }}>
          <CartesianGrid vertical={false} className="chart-grid" />
          <XAxis
            dataKey="date"
            tickFormatter={dateOf}
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
            labelFormatter={(date) => dateOf(String(date))}
          />
          <Area
            dataKey="was"
            name={before}
            className="chart-before"
            strokeWidth={2}
            strokeDasharray="4 4"
            isAnimationActive={false}
          />
          <Area dataKey="value" name={label} className="chart-area" strokeWidth={2} isAnimationActive={false} />
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
                  <td>{dateOf(date)}</td>
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
