import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { listOffsets, offsetText } from '../../kit/values/time-zone.ts';

/** The zone of the days and hours that rollups have. */
export const STORED_ZONE = 'UTC';

/** The range of times that ClickHouse stores. */
const [FIRST_MS, LAST_MS] = [0, Date.UTC(2149, 5, 7)];

/** A span whose days are those of a zone. */
export interface LocalSpan {
  from?: Date | undefined;
  until?: Date | undefined;
  /** UTC if omitted. */
  timeZone?: string | undefined;
}

const listSpanOffsets = ({ from, until, timeZone = STORED_ZONE }: LocalSpan) =>
  listOffsets(timeZone, from?.getTime() ?? FIRST_MS, until?.getTime() ?? LAST_MS);

/** True if the days of the span are those that rollups have. */
export const hasStoredDays = (span: LocalSpan): boolean =>
  listSpanOffsets(span).every(({ offsetMs }) => offsetMs === 0);

const isWholeHour = (ms: number): boolean => ms % HOUR_MS === 0;

/** True if the span, and each hour of its zone's clocks, begins with an hour of UTC: then the rollup's hours have its days. */
export const hasStoredHours = (span: LocalSpan): boolean =>
  isWholeHour(span.from?.getTime() ?? 0) &&
  isWholeHour(span.until?.getTime() ?? 0) &&
  listSpanOffsets(span).every(({ offsetMs }) => isWholeHour(offsetMs));

/** Chooses by the offset that a zone has at a time: ClickHouse and PostgreSQL get moments, never the names of zones. */
function chooseOffset(
  span: LocalSpan,
  isBefore: (ms: number) => string,
  toValue: (offsetMs: number) => string,
): string {
  const offsets = listSpanOffsets(span);
  const last = toValue(offsets.at(-1)?.offsetMs ?? 0);
  const cases = offsets.slice(0, -1).map(({ offsetMs }, place) => {
    const end = offsets[place + 1]?.sinceMs ?? LAST_MS;
    return `WHEN ${isBefore(end)} THEN ${toValue(offsetMs)}`;
  });
  return cases.length === 0 ? last : `(CASE ${cases.join(' ')} ELSE ${last} END)`;
}

/** A moment in a statement. */
export const toMoment = (at: Date): string => `toDateTime64('${tsvTime(at)}', 3, 'UTC')`;

/** The day and the hour of an event in a span, as expressions of its `at`. */
export interface LocalTime {
  day: string;
  hour: string;
  /** The key of its hour, by which the two hours of a doubled one differ. */
  dayAndHour: string;
}

const hourOf = (at: string) => `leftPad(toString(toHour(${at})), 2, '0')`;

export function toLocalTime(span: LocalSpan): LocalTime {
  if (hasStoredDays(span)) {
    const [day, hour] = ['toDate(at)', hourOf('at')];
    return { day, hour, dayAndHour: `concat(toString(${day}), 'T', ${hour}, '+00:00')` };
  }
  const isBefore = (ms: number) => `at < ${toMoment(new Date(ms))}`;
  const seconds = chooseOffset(span, isBefore, (ms) => `toInt32(${ms / 1_000})`);
  const local = `addSeconds(at, ${seconds})`;
  const within = `least(greatest(${local}, ${toMoment(new Date(FIRST_MS))}), toDateTime64('2149-06-06 23:59:59', 3, 'UTC'))`;
  const [day, hour] = [`toDate(${within})`, hourOf(local)];
  const offset = chooseOffset(span, isBefore, (ms) => `'${offsetText(ms)}'`);
  return { day, hour, dayAndHour: `concat(toString(${day}), 'T', ${hour}, ${offset})` };
}

/** The local time of milliseconds since 1970, as an expression of them. */
export const toLocalMs = (span: LocalSpan, at: string): string =>
  `(${at} + ${chooseOffset(
    span,
    (ms) => `${at} < ${ms}`,
    (ms) => `toInt64(${ms})`,
  )})`;

/** The local time of a column of PostgreSQL, as a `timestamp`. */
export const toLocalTimestamp = (span: LocalSpan, column: string): string =>
  `(${column} at time zone 'UTC' + ${chooseOffset(
    span,
    (ms) => `${column} < '${new Date(ms).toISOString()}'::timestamptz`,
    (ms) => `interval '${ms / 1_000} seconds'`,
  )})`;
