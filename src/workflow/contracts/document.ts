import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Html, html } from '../../kit/html/html.ts';
import { canonicalJson } from '../../kit/values/canonical.ts';
import { compensationLabel, toCompensation } from '../../kit/values/compensation.ts';
import { ContractTerms } from '../deliverables/deliverables.shapes.ts';
import type { ContractFacts } from './contracts.ts';
import { toSections } from './sections.ts';

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

const NOTHING = html``;

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
