import { type Html, html } from './html.ts';

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
const MINUTE = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** "January 31, 2027 at 9:30 AM UTC" */
export const timeText = (at: Date): string => `${MINUTE.format(at)} UTC`;

export const timeTag = (at: Date): Html => html`<time datetime="${at.toISOString()}">${timeText(at)}</time>`;

/** "January 31, 2027", for a day such as 2027-01-31. */
export const dayText = (day: string): string => DAY.format(new Date(day));

export const dayTag = (day: string): Html => html`<time datetime="${day}">${dayText(day)}</time>`;
