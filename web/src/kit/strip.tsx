import { number, shortDay } from './format.ts';

/** A part of a day's bar; its colour repeats the name of a series. */
export type StripTone = 'quiet' | 'wait' | 'bad';

export interface StripSeries {
  name: string;
  tone: StripTone;
  /** A value for each day. */
  values: readonly number[];
}

interface StripProps {
  /** Describes the bars for people who cannot see them. */
  label: string;
  days: readonly string[];
  series: readonly StripSeries[];
  /** The time zone of the days. */
  zone?: string;
}

/** A low bar for each day above a list, stacked by series; a table below it has the same figures. */
export function Strip({ label, days, series, zone = 'UTC' }: StripProps) {
  const sums = days.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const highest = Math.max(1, ...sums);
  const describeDay = (i: number) =>
    [
      `${shortDay(days[i] ?? '')}:`,
      ...series.map(({ name, values }) => `${number(values[i])} ${name.toLowerCase()}`),
    ].join(' ');
  return (
    <div className="strip-chart">
      <div className="strip-bars" aria-hidden>
        <span className="strip-top">{number(highest)}</span>
        {days.map((day, i) => (
          <div key={day} title={describeDay(i)}>
            {series.map(({ name, tone, values }) => (
              <span key={name} className={tone} style={{ blockSize: `${(100 * (values[i] ?? 0)) / highest}%` }} />
            ))}
          </div>
        ))}
      </div>
      <p className="strip-ends" aria-hidden>
        <span>{shortDay(days[0] ?? '')}</span>
        <span>
          {shortDay(days.at(-1) ?? '')}, {zone}
        </span>
      </p>
      <details>
        <summary>Show as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
        <section className="chart-table" aria-label={`${label}, as a table`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Date</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.map((day, i) => (
                <tr key={day}>
                  <td>{shortDay(day)}</td>
                  {series.map(({ name, values }) => (
                    <td key={name} className="number">
                      {number(values[i])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </div>
  );
}
