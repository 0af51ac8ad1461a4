import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Html, html } from '../../kit/html/html.ts';
import { dayText } from '../../kit/html/times.ts';
import { canonicalJson } from '../../kit/values/canonical.ts';
import { compensationLabel, toCompensation } from '../../kit/values/compensation.ts';
import { platformName } from '../../kit/values/platforms.ts';
import { ContractTerms } from '../deliverables/deliverables.shapes.ts';
import type { ContractFacts } from './contracts.ts';

/**
 * The text that is signed: everything that binds, frozen at the first sending. A later shape gets another `version`.
 */
const SignedText = z.object({
  version: z.literal(1),
  contract_id: z.string(),
  title: z.string(),
  brand: z.object({ id: z.string(), name: z.string() }),
  creator: z.object({ email: z.string(), name: z.string().nullable() }),
  campaign: z.object({ id: z.string(), title: z.string() }).nullable(),
  compensation: z
    .object({
      type: z.string(),
      amount: z.number().nullable(),
      currency: z.string().nullable(),
      label: z.string().nullable(),
    })
    .nullable(),
  deliverables: z.array(
    z.object({
      type: z.string(),
      platform: z.string().nullable(),
      quantity: z.number().int(),
      due_date: z.string().nullable(),
    }),
  ),
  usage_rights: z.string().nullable(),
  terms: z
    .object({
      channels: z.array(z.string()),
      territory: z.string().nullable(),
      days: z.number().int().nullable(),
      starts: z.enum(['signed', 'posted', 'fixed']),
      starts_on: z.string().nullable(),
    })
    .nullable(),
  expires_at: z.string().nullable(),
});
export type SignedText = z.infer<typeof SignedText>;

export interface Parties {
  brand: { id: string; name: string };
  creatorEmail: string;
  campaign: { id: string; title: string } | null;
}

/** A contract as the text that its creator signs. */
export function writeDocument(row: ContractFacts, { brand, creatorEmail, campaign }: Parties): string {
  const compensation = toCompensation(row);
  const text: SignedText = {
    version: 1,
    contract_id: row.id,
    title: row.title,
    brand: { id: brand.id, name: brand.name },
    creator: { email: creatorEmail, name: row.creatorName },
    campaign: campaign && { id: campaign.id, title: campaign.title },
    compensation: compensation && { ...compensation, label: compensationLabel(row) },
    deliverables: row.items.map(({ type, platform, quantity, dueDate }) => ({
      type,
      platform,
      quantity,
      due_date: dueDate,
    })),
    usage_rights: row.usageRights,
    terms: row.terms === null ? null : ContractTerms.parse(row.terms),
    expires_at: row.expiresAt?.toISOString() ?? null,
  };
  return canonicalJson(text);
}

export const hashDocument = (document: string): Buffer => createHash('sha256').update(document, 'utf8').digest();

export const readDocument = (document: string): SignedText => SignedText.parse(JSON.parse(document));

/** A channel is any word of the brand; a single adjective needs its noun. */
const CHANNELS: Readonly<Record<string, string>> = { organic: 'organic posts', paid: 'paid ads' };
const nameChannel = (channel: string): string => CHANNELS[channel] ?? channel.replaceAll('_', ' ');

const STARTS = { signed: 'from the signature', posted: 'from the first post', fixed: 'from' } as const;
const NOTHING = html``;

/** "2 × reel, Instagram, by January 31, 2027" */
function itemLine({ type, platform, quantity, due_date }: SignedText['deliverables'][number]): string {
  return [
    `${quantity} × ${type}`,
    ...(platform === null ? [] : [platformName(platform)]),
    ...(due_date === null ? [] : [`by ${dayText(due_date)}`]),
  ].join(', ');
}

function termsLines(terms: NonNullable<SignedText['terms']>): string[] {
  const { channels, territory, days, starts, starts_on } = terms;
  const from = `${STARTS[starts]}${starts_on === null ? '' : ` ${dayText(starts_on)}`}`;
  return [
    `Channels: ${channels.length > 0 ? channels.map(nameChannel).join(', ') : 'any'}`,
    `Territory: ${territory ?? 'worldwide'}`,
    days === null ? `How long: without an end, ${from}` : `How long: ${days} ${days === 1 ? 'day' : 'days'}, ${from}`,
  ];
}

interface Section {
  heading: string;
  /** The person's own words, or a standard sentence. */
  text?: string;
  lines?: string[];
}

/** The signed text in sections, for display. */
function toSections(text: SignedText): Section[] {
  const { brand, creator, campaign, compensation, deliverables, usage_rights, terms } = text;
  const who = creator.name === null ? creator.email : `${creator.name} (${creator.email})`;
  const isNone = usage_rights === null && terms === null;
  return [
    {
      heading: 'Who',
      text: `Between ${brand.name} and ${who}${campaign === null ? '' : `, for the campaign ${campaign.title}`}.`,
    },
    deliverables.length === 0
      ? { heading: 'Deliverables', text: 'No deliverables.' }
      : { heading: 'Deliverables', lines: deliverables.map(itemLine) },
    { heading: 'Compensation', text: compensation === null ? 'None.' : (compensation.label ?? compensation.type) },
    {
      heading: 'Usage rights',
      ...(isNone ? { text: 'None.' } : {}),
      ...(usage_rights === null ? {} : { text: usage_rights }),
      ...(terms === null ? {} : { lines: termsLines(terms) }),
    },
  ];
}

/** The signed text as HTML, for a page. */
export const documentHtml = (text: SignedText): Html => html`<section>
${toSections(text).map(
  ({ heading, text: words, lines }) => html`<h2>${heading}</h2>
${words === undefined ? NOTHING : html`<p class="description">${words}</p>`}
${lines === undefined ? NOTHING : html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`}
`,
)}</section>`;

/** The signed text as plain text, for a mail. */
export const documentText = (text: SignedText): string =>
  toSections(text)
    .map(({ heading, text: words, lines = [] }) => [heading, words, ...lines.map((line) => `- ${line}`)])
    .map((parts) => parts.filter((part) => part !== undefined).join('\n'))
    .join('\n\n');
