import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { compact, shortDay } from './format.ts';

export interface Point {
  date: string;
  value: number;
  /** The value in the previous period. */
  was?: number | undefined;
}

/** An SVG chart that arrow keys navigate; a table below it has the same figures. */
export default function Chart({
  label,
  points,
  show,
}: {
  label: string;
  points: readonly Point[];
  show: (value: number) => string;
}) {
  return (
    <div className="chart">
      <ResponsiveContainer width="100%" height={220}>
        <AreaChart data={[...points]} title={`${label} by date`} margin={{ left: 0, right: 8, top: 8, bottom: 0 }}>
          <CartesianGrid vertical={false} className="chart-grid" />
          <XAxis
            dataKey="date"
            tickFormatter={shortDay}
            minTickGap={32}
            fontSize={12}
            tickLine={false}
            axisLine={false}
          />
          <YAxis width={48} tickFormatter={compact} fontSize={12} tickLine={false} axisLine={false} />
          <Tooltip
            formatter={(value, name) => [show(Number(value)), name]}
            labelFormatter={(date) => shortDay(String(date))}
          />
          <Area
            dataKey="was"
            name="Previous period"
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
                <th scope="col" className="number">
                  Previous period
                </th>
              </tr>
            </thead>
            <tbody>
              {points.map(({ date, value, was }) => (
                <tr key={date}>
                  <td>{shortDay(date)}</td>
                  <td className="number">{show(value)}</td>
                  <td className="number">{was === undefined ? '–' : show(was)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </div>
  );
}
