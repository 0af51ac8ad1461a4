import { postForm, submitButton } from '../../kit/html/controls.ts';
import { type Html, html } from '../../kit/html/html.ts';
import { dayTag } from '../../kit/html/times.ts';
import { confirmReceipt, findShipmentPage, reportMissing } from '../../workflow/shipments/shipments.ts';
import { renderBadge } from './badge.ts';
import { creatorPage, type PageAnswer, type PageVisit } from './declare.ts';

type Parcel = NonNullable<Awaited<ReturnType<typeof findShipmentPage>>>;

const NOTHING = html``;

export const STATUS: Readonly<Record<Parcel['status'], string>> = {
  created: 'Being prepared',
  pending: 'Being prepared',
  shipped: 'On its way',
  delivered: 'Delivered',
  returned: 'Returned to the sender',
};

export const renderStatus = ({ status }: Pick<Parcel, 'status'>): Html =>
  renderBadge(STATUS[status], status === 'delivered');

/** A carrier's status for people: `in_transit` becomes "In transit". */
export const sentence = (word: string): string =>
  word.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Carriers whose names are no words. */
const INITIALS = /^(?:dhl|dpd|gls|tnt|ups|usps)$/i;

export const formatCarrier = (carrier: string | null): string | null =>
  carrier !== null && INITIALS.test(carrier) ? carrier.toUpperCase() : carrier && sentence(carrier);

/** A parcel that arrived, or came back, is no longer expected. */
export const isOnItsWay = ({ status }: Pick<Parcel, 'status'>): boolean =>
  status !== 'delivered' && status !== 'returned';

function renderFacts(row: Parcel): Html {
  const facts: [string, Html | string | null][] = [
    ['Content', row.productDescription],
    ['Status', renderStatus(row)],
    ['Carrier', formatCarrier(row.carrier)],
    ['Tracking number', row.trackingNumber],
    ['Carrier status', row.trackingStatus && sentence(row.trackingStatus)],
    ['Expected', isOnItsWay(row) && row.estimatedArrival ? dayTag(row.estimatedArrival) : null],
  ];
  return html`<dl>${facts.map(([name, value]) => (value === null ? NOTHING : html`<dt>${name}</dt><dd>${value}</dd>\n`))}</dl>`;
}

function renderReport({ confirmedAt, reportedMissingAt }: Parcel): Html {
  if (confirmedAt !== null)
    return html`<p class="notice" role="status">You confirmed that it has arrived. Thank you!</p>`;
  if (reportedMissingAt === null) return NOTHING;
  return html`<p class="notice" role="status">You reported that it has not arrived. They have been notified.</p>`;
}

function show({ row, brand, action }: PageVisit<Parcel>): PageAnswer {
  const choices = html`<div class="actions">${submitButton('It has arrived', { name: 'report', value: 'arrived' })}
${row.reportedMissingAt === null ? submitButton('It has not arrived', { name: 'report', value: 'missing', quiet: true }) : NOTHING}</div>`;
  return {
    title: 'Your parcel',
    content: html`<h1>Your parcel from ${brand.name}</h1>
${renderReport(row)}
${renderFacts(row)}
${row.confirmedAt === null && row.status !== 'returned' ? postForm(action, choices) : NOTHING}`,
  };
}

/** A parcel as its creator sees it, with two buttons: it has arrived, or it has not. */
export const parcelPage = creatorPage<Parcel>({
  kind: 'parcel',
  find: async ({ postgres }, { rowId }) => await findShipmentPage(postgres.db, rowId),
  show,
  submit: async ({ row, form, inWork, action }) => {
    const report = form().text('report');
    if (report === 'arrived') await inWork((work) => confirmReceipt(work, row.id));
    if (report === 'missing') await inWork((work) => reportMissing(work, row.id));
    return { seeOther: action };
  },
});
