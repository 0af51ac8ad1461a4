import { z } from 'zod';
import { timeText } from '../../html/times.ts';
import { type MailFacts, template } from '../template.ts';
import { YEAR_MS } from './lifetimes.ts';

/** Where work is handed in: the page of all that a contract asks for, which opens by any of its deliverables. */
export const workUrl = ({ createdAt, urlOf }: MailFacts, deliverableId: string, version: number): string =>
  urlOf({
    ...{ kind: 'work', rowId: deliverableId, version },
    expiresAt: new Date(createdAt.getTime() + YEAR_MS),
  });

export const contractSent = template({
  audience: 'creator',
  params: z.object({
    contract_id: z.string(),
    link_version: z.int(),
    link_expires_at: z.iso.datetime(),
    title: z.string(),
  }),
  write: ({ contract_id, link_version, link_expires_at, title }, { brandName, urlOf }) => ({
    subject: `${brandName} sent you a contract to sign: ${title}`,
    paragraphs: [
      'Please read it. You sign by typing your name, and you get the signed text by mail.',
      'The link is for you alone: anyone who has it can sign in your name.',
    ],
    facts: [['Sign before', timeText(new Date(link_expires_at))]],
    action: {
      label: 'Read and sign',
      url: urlOf({
        ...{ kind: 'sign', rowId: contract_id, version: link_version },
        expiresAt: new Date(link_expires_at),
      }),
    },
  }),
});

const Signed = z.object({
  title: z.string(),
  signed_at: z.iso.datetime(),
  signer_name: z.string(),
  sha256: z.string(),
});

const evidence = ({ signed_at, signer_name, sha256 }: z.infer<typeof Signed>) =>
  [
    ['Signed by', signer_name],
    ['Signed', timeText(new Date(signed_at))],
    ['SHA-256 of the signed text', sha256],
  ] as const;

export const contractSigned = template({
  audience: 'creator',
  params: Signed.extend({
    deliverable_id: z.string().nullable().describe('One of its deliverables; null if it has none.'),
    link_version: z.int(),
    document: z.string().describe('The signed text, for people.'),
  }),
  write: ({ title, document, deliverable_id, link_version, ...signed }, facts) => ({
    subject: `Signed: ${title}`,
    heading: `You signed the contract with ${facts.brandName}`,
    paragraphs: [document],
    facts: evidence({ title, ...signed }),
    ...(deliverable_id === null
      ? {}
      : { action: { label: 'Hand in your work', url: workUrl(facts, deliverable_id, link_version) } }),
  }),
});

export const contractSignedBrand = template({
  audience: 'brand',
  params: Signed,
  write: (signed) => ({
    subject: `${signed.signer_name} signed: ${signed.title}`,
    paragraphs: ['The contract is signed. Its text and hash are kept with it.'],
    facts: evidence(signed),
  }),
});

export const contractVoided = template({
  audience: 'creator',
  params: z.object({ title: z.string(), reason: z.enum(['voided', 'expired']) }),
  write: ({ title, reason }, { brandName }) => ({
    subject: `No longer to be signed: ${title}`,
    paragraphs: [
      reason === 'voided'
        ? `${brandName} took the contract back. There is nothing more to do.`
        : 'The time to sign the contract is over. There is nothing more to do.',
    ],
  }),
});
