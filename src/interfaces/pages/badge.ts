import { type Html, html } from '../../kit/html/html.ts';

/** A status. It is coloured if it is settled, as "Approved" is, and more so if it is the creator's turn. */
export const renderBadge = (status: string, isSettled: boolean, isTurn = false): Html =>
  html`<span class="${isTurn ? 'badge turn' : isSettled ? 'badge' : 'badge open'}">${status}</span>`;
