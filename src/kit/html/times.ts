import { datesIn } from '../values/format.ts';
import { daysAfter } from '../values/time-zone.ts';
import { type Html, html } from './html.ts';

const UTC = datesIn('UTC');

/** "January 31, 2027 at 9:30 AM UTC" */
export const timeText = (at: Date): string => `${UTC.longTime(at)} UTC`;

export const timeTag = (at: Date): Html => html`<time datetime="${at.toISOString()}">${timeText(at)}</time>`;

/** A time that the page's script writes in the reader's own zone. Without scripts it stays in UTC. */
export const localTimeTag = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" data-local="long">${timeText(at)}</time>`;

/** The same in short: "Jan 31, 9:30 AM UTC", with the year only if it is not this one. */
export function shortLocalTimeTag(at: Date, now: Date): Html {
  const isOfThisYear = at.getUTCFullYear() === now.getUTCFullYear();
  const text = isOfThisYear ? `${UTC.shortDay(at)}, ${UTC.clock(at)}` : UTC.time(at);
  return html`<time datetime="${at.toISOString()}" data-local="short">${text} UTC</time>`;
}

/** "January 31, 2027", for a day such as 2027-01-31. */
export const dayText = (day: string): string => UTC.longDay(day);

/** "October 2026" for a whole month; else "October 1, 2026 to October 15, 2026". */
export function periodText(from: string, to: string): string {
  const isMonth = from.endsWith('-01') && daysAfter(to, 1).endsWith('-01') && from.slice(0, 7) === to.slice(0, 7);
  return isMonth ? UTC.longMonth(from) : `${dayText(from)} to ${dayText(to)}`;
}

export const dayTag = (day: string): Html => html`<time datetime="${day}">${dayText(day)}</time>`;
