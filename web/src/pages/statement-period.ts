import { day, month } from '../kit/format.ts';
import { DAY_MS } from '../kit/utc-day.ts';

/** True for the first to the last day of a month. */
export const isWholeMonth = (from: string, to: string) => {
  const next = new Date(Date.parse(to) + DAY_MS).toISOString().slice(0, 10);
  return from.length === 10 && from.endsWith('-01') && next.endsWith('-01') && from.slice(0, 7) === to.slice(0, 7);
};

/** A whole month by its name. */
export const period = ({ from, to }: { from: string; to: string }) =>
  isWholeMonth(from, to) ? month(from) : `${day(from)} to ${day(to)}`;
