import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { brandZone, compactMoney, dayRange, roundCompact, shortDay, shortHour, today, versus } from './format.ts';
import { DAY_MS, toUtcDay } from './utc-day.ts';

/** The time that a point covers; a `reading` was taken at a moment. */
type PointUnit = 'hour' | 'day' | 'week' | 'month' | 'reading';

/** The last day that a point counts. Weeks end on Sunday. */
function getPointEnd(date: string, by: PointUnit): string {
  const at = new Date(date);
  if (by === 'week') return toUtcDay(at.getTime() + ((7 - at.getUTCDay()) % 7) * DAY_MS);
  if (by === 'month') return toUtcDay(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0));
  return date.slice(0, 10);
}

/** True while the time of a point is not over. */
function isOpen(date: string, by: PointUnit): boolean {
  if (by === 'hour') return Date.parse(date) > Date.now() - 3_600_000;
  return by !== 'reading' && getPointEnd(date, by) >= today();
}

export interface Point {
  date: string;
  value: number;
  /** The value in the previous period, and the date that it is of. */
  was?: number | undefined;
  wasDate?: string | undefined;
}

const HEIGHT = 220;
const EDGE = { left: 56, right: 8, top: 8, bottom: 24 };
/** The least room between the names of two dates. */
const NAME_WIDTH = 72;

/** The width of an element, which follows the window. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

interface PlotProps {
  label: string;
  before: string;
  points: readonly Point[];
  show: (value: number) => string;
  showTick: (value: number) => string;
  nameTick: (date: string) => string;
  namePoint: (date: string) => string;
  /** The places whose dates are named; all that there is room for if undefined. */
  named: readonly number[] | undefined;
  isRunning: boolean;
}

/** The lines, and the figures of one point, which the pointer, a finger or the arrow keys choose. */
function Plot(props: PlotProps) {
  const { label, before, points, show, showTick, nameTick, namePoint, named, isRunning } = props;
  const { ref, width } = useWidth();
  const [chosenIndex, setChosenIndex] = useState<number>();
  const ticks = buildTicks(points);
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const last = points.length - 1;
  const room = Math.max(width - EDGE.left - EDGE.right, 1);
  const toX = (place: number) => EDGE.left + (last === 0 ? room / 2 : (room * place) / last);
  const toY = (value: number) => EDGE.top + ((high - value) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const toLine = (values: readonly (number | undefined)[]) =>
    values
      .flatMap((value, i) => (value === undefined ? [] : [`${toX(i).toFixed(1)},${toY(value).toFixed(1)}`]))
      .map((at, i) => `${i === 0 ? 'M' : 'L'}${at}`)
      .join('');
  const values = points.map(({ value }) => value);
  const over = isRunning ? values.slice(0, -1) : values;
  const places = named ?? points.map((_, i) => i);
  const every = Math.max(1, Math.ceil((places.length * NAME_WIDTH) / room));
  const follow = ({ clientX, currentTarget }: PointerEvent) => {
    const at = clientX - currentTarget.getBoundingClientRect().left - EDGE.left;
    setChosenIndex(Math.min(last, Math.max(0, Math.round((at / room) * last))));
  };
  const press = (event: KeyboardEvent) => {
    const now = chosenIndex ?? last;
    const steps: Readonly<Record<string, number>> = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setChosenIndex(Math.min(last, Math.max(0, next)));
  };
  const point = chosenIndex === undefined ? undefined : points[chosenIndex];
  const currentPoint = point ?? points[last];
  const x = toX(chosenIndex ?? 0);
  return (
    <div
      className="plot"
      ref={ref}
      role="slider"
      aria-label={`${label} by date`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={chosenIndex ?? last}
      aria-valuetext={currentPoint && `${namePoint(currentPoint.date)}: ${show(currentPoint.value)}`}
      tabIndex={0}
      onPointerMove={follow}
      onPointerDown={follow}
      onPointerLeave={() => setChosenIndex(undefined)}
      onBlur={() => setChosenIndex(undefined)}
      onKeyDown={press}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden>
          {ticks.map((tick) => (
            <g key={tick}>
              <line className="chart-grid" x1={EDGE.left} x2={width - EDGE.right} y1={toY(tick)} y2={toY(tick)} />
              <text x={EDGE.left - 8} y={toY(tick) + 4} textAnchor="end">
                {showTick(tick)}
              </text>
            </g>
          ))}
          {places
            .filter((_, i) => i % every === 0)
            .map((place) => (
              <text key={place} x={Math.min(toX(place), width - 24)} y={HEIGHT - 4} textAnchor="middle">
                {nameTick(points[place]?.date ?? '')}
              </text>
            ))}
          <path className="chart-before" d={toLine(points.map(({ was }) => was))} />
          <path className="chart-fill" d={`${toLine(values)}L${toX(last)},${toY(0)}L${toX(0)},${toY(0)}Z`} />
          <path className="chart-area" d={toLine(over)} />
          {isRunning && (
            <path
              className="chart-open"
              d={`M${values
                .slice(-2)
                .map((value, i, { length }) => `${toX(last - length + 1 + i)},${toY(value)}`)
                .join('L')}`}
            />
          )}
          {last === 0 && <circle className="chart-dot" cx={toX(0)} cy={toY(values[0] ?? 0)} r={3} />}
          {point && (
            <>
              <line className="chart-at" x1={x} x2={x} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} />
              <circle className="chart-dot" cx={x} cy={toY(point.value)} r={3.5} />
            </>
          )}
        </svg>
      )}
      {point && (
        <div className="chart-tip" style={x > width / 2 ? { right: width - x + 12 } : { left: x + 12 }}>
          <strong>
            {namePoint(point.date)}
            {isRunning && chosenIndex === last && ', so far'}
          </strong>
          <p>
            <span>
              <span className="key now" /> {label}
            </span>
            {show(point.value)}
          </p>
          {point.was !== undefined && (
            <>
              <p>
                <span>
                  <span className="key before" /> {point.wasDate === undefined ? before : namePoint(point.wasDate)}
                </span>
                {show(point.was)}
              </p>
              <p className="muted">{versus(point.value, point.was, before.toLowerCase())}</p>
            </>
          )}
        </div>
      )}
    </div>
  );
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

/** A chart of a figure by date, beside that of an earlier period; a table below it has the same figures. */
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
  by?: PointUnit;
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
  const isCompared = points.some(({ was }) => was !== undefined);
  const isRunning = last !== undefined && isOpen(last.date, by);
  const clampStart = (date: string) => (within && within.from > date ? within.from : date);
  const clampEnd = (date: string) => {
    const end = getPointEnd(date, by);
    return within && within.to < end ? within.to : end;
  };
  const namePoint = (date: string) => {
    if (by === 'hour') return shortHour(date);
    return by === 'week' || by === 'month' ? dayRange(clampStart(date), clampEnd(date)) : shortDay(date);
  };
  // With many hours, only the days are named.
  const midnights = points.flatMap(({ date }, i) => (date.includes('T00:00') ? [i] : []));
  const isByDay = by !== 'hour' || (points.length > 48 && midnights.length > 0);
  const isZero = points.every(({ value, was = 0 }) => value === 0 && was === 0);
  return (
    <div className="chart">
      <p className="legend" aria-hidden>
        <span className="key now" /> {label}
        {first && last && (
          <span className="muted">{`${dayRange(clampStart(first.date), clampEnd(last.date))}${isRunning ? ' so far' : ''}, ${zone}`}</span>
        )}
        {isCompared && (
          <span className="nowrap">
            <span className="key before" /> {before}
          </span>
        )}
      </p>
      {isZero ? (
        <p className="chart-none" role="status">
          No {label.toLowerCase()} in this period.
        </p>
      ) : (
        <Plot
          label={label}
          before={before}
          points={points}
          show={show}
          showTick={(value) => (currency === undefined ? roundCompact(value) : compactMoney(value, currency))}
          nameTick={isByDay ? shortDay : shortHour}
          namePoint={namePoint}
          named={by === 'hour' && isByDay ? midnights : undefined}
          isRunning={isRunning}
        />
      )}
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
