import { type Html, html } from '../../kit/html/html.ts';

/** A status. It is coloured if it is settled, as "Approved" is. */
export const renderBadge = (status: string, isSettled: boolean): Html =>
  html`<span class="${isSettled ? 'badge' : 'badge open'}">${status}</span>`;
