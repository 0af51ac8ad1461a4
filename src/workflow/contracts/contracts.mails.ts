import { z } from 'zod';
import { timeText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import type { Work } from '../../kit/operation/work.ts';
import { getBrand } from '../../platform/brands/brands.ts';
import { mailPeople } from '../../platform/people/people.ts';
import type { Addressee } from '../applications/applications.ts';
import { listContractDeliverables } from '../deliverables/deliverables.ts';
import { workUrl } from '../deliverables/moves.ts';
import { EXPIRED_REASONS } from './contracts.shapes.ts';
import type { ContractFacts, ContractRow } from './contracts.ts';
import { documentText, readDocument } from './document.ts';

const LINK_LIVES_MS = 30 * 24 * 60 * 60 * 1_000;

/** The link for signing. It works until the contract's end, or for 30 days after it was sent. */
export const signingLink = (
  { id, linkVersion, expiresAt }: { id: string; linkVersion: number; expiresAt: Date | null },
  sentAt: Date,
) => ({
  kind: 'sign' as const,
  rowId: id,
  version: linkVersion,
  expiresAt: expiresAt ?? new Date(sentAt.getTime() + LINK_LIVES_MS),
});

const contractSent = template({
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
      'Please read it. You sign by typing your name, and you get the signed text by email.',
      'The link is for you alone: anyone who has it can sign in your name.',
    ],
    facts: [['Sign before', timeText(new Date(link_expires_at))]],
    action: {
      label: 'Read and sign',
      url: urlOf({
        kind: 'sign',
        rowId: contract_id,
        version: link_version,
        expiresAt: new Date(link_expires_at),
      }),
    },
  }),
});

const SignatureParams = z.object({
  title: z.string(),
  signed_at: z.iso.datetime(),
  signer_name: z.string(),
  sha256: z.string(),
});

const evidence = ({ signed_at, signer_name, sha256 }: z.infer<typeof SignatureParams>) =>
  [
    ['Signed by', signer_name],
    ['Signed', timeText(new Date(signed_at))],
    ['SHA-256 of the signed text', sha256],
  ] as const;

const contractSigned = template({
  audience: 'creator',
  params: SignatureParams.extend({
    deliverable_id: z.string().nullable().describe('A deliverable of the contract; null if it has none.'),
    link_version: z.int(),
    document: z.string().describe('The signed text, for people.'),
  }),
  write: ({ title, document, deliverable_id, link_version, ...signature }, facts) => ({
    subject: `Signed: ${title}`,
    heading: `You signed the contract with ${facts.brandName}`,
    paragraphs: [document],
    facts: evidence({ title, ...signature }),
    ...(deliverable_id === null
      ? {}
      : { action: { label: 'Hand in your work', url: workUrl(facts, deliverable_id, link_version) } }),
  }),
});

const contractSignedBrand = template({
  audience: 'brand',
  params: SignatureParams.extend({ contract_id: z.string().optional() }),
  write: ({ contract_id, ...signature }, { appUrlOf }) => ({
    subject: `${signature.signer_name} signed: ${signature.title}`,
    paragraphs: ['The contract is signed. Its text and hash are kept with it.'],
    facts: evidence(signature),
    // Mails that were queued before an upgrade have no id.
    action: {
      label: 'See the contract',
      url: appUrlOf(contract_id === undefined ? 'contracts' : `contracts/${contract_id}`),
    },
    links: [{ label: 'Choose your emails', url: appUrlOf('settings') }],
  }),
});

const contractVoided = template({
  audience: 'creator',
  params: z.object({ title: z.string(), reason: z.enum(EXPIRED_REASONS) }),
  write: ({ title, reason }, { brandName }) => ({
    subject: `No longer open for signature: ${title}`,
    paragraphs: [
      reason === 'voided'
        ? `${brandName} withdrew the contract. There is nothing more to do.`
        : 'The time to sign the contract has passed. There is nothing more to do.',
    ],
  }),
});

export const contractMails = mails({
  contract_sent: contractSent,
  contract_signed: contractSigned,
  contract_signed_brand: contractSignedBrand,
  contract_voided: contractVoided,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof contractMails> {}
}

/** Mails the contract's creator the link for signing, once for each sending. */
export async function mailSent(work: Work, row: ContractRow, to: Addressee): Promise<void> {
  const { id, linkVersion, title } = row;
  await queueMail(work, {
    kind: 'contract_sent',
    to: to.email,
    subjectRow: `${id}:${linkVersion}`,
    creatorId: to.id,
    params: {
      contract_id: id,
      link_version: linkVersion,
      title,
      link_expires_at: signingLink(row, work.now).expiresAt.toISOString(),
    },
  });
}

/** Tells a creator who received the contract that it can no longer be signed. */
export async function mailEnded(
  work: Work,
  { id, creatorId, creatorEmail, title }: ContractFacts,
  reason: (typeof EXPIRED_REASONS)[number],
): Promise<void> {
  if (creatorEmail === null) return;
  await queueMail(work, {
    kind: 'contract_voided',
    to: creatorEmail,
    subjectRow: id,
    creatorId,
    params: { title, reason },
  });
}

/** Mails both sides the signed text. */
export async function mailSigned(work: Work, row: ContractFacts): Promise<void> {
  const { id, creatorId, creatorEmail, title, signedAt, signerName, contentHash, document } = row;
  const { contactEmail } = await getBrand(work.db, work.brandId);
  const signature = {
    title,
    signed_at: (signedAt ?? work.now).toISOString(),
    signer_name: signerName ?? '',
    sha256: contentHash?.toString('hex') ?? '',
  };
  const toBrand = { kind: 'contract_signed_brand' as const, subjectRow: id, params: { ...signature, contract_id: id } };
  await mailPeople(work, 'contracts', toBrand, contactEmail);
  if (creatorEmail === null || document === null) return;
  const [first] = await listContractDeliverables(work.db, work.brandId, id);
  await queueMail(work, {
    kind: 'contract_signed',
    to: creatorEmail,
    subjectRow: id,
    creatorId,
    params: {
      ...signature,
      deliverable_id: first?.id ?? null,
      link_version: first?.linkVersion ?? 0,
      document: documentText(readDocument(document)),
    },
  });
}
