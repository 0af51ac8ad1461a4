import { queueMail } from '../../mail/queue.ts';
import type { Work } from '../../operation/work.ts';
import type { Addressee } from '../applications/addressee-queries.ts';
import { getBrand } from '../brands/queries.ts';
import { listOfContract } from '../deliverables/queries.ts';
import { documentText, readDocument } from './document.ts';
import { signingLink } from './policy.ts';
import type { ContractFacts, ContractRow } from './queries.ts';

/** To its creator, with the link to sign by; once for each sending. */
export async function mailSent(work: Work, row: ContractRow, to: Addressee): Promise<void> {
  const { id, linkVersion, title } = row;
  await queueMail(work, {
    ...{ kind: 'contract_sent', to: to.email, subjectRow: `${id}:${linkVersion}`, creatorId: to.id },
    params: {
      ...{ contract_id: id, link_version: linkVersion, title },
      link_expires_at: signingLink(row, work.now).expiresAt.toISOString(),
    },
  });
}

/** To its creator, who was sent it: there is nothing more to sign. */
export async function mailEnded(
  work: Work,
  { id, creatorId, creatorEmail, title }: ContractFacts,
  reason: 'expired' | 'voided',
): Promise<void> {
  if (creatorEmail === null) return;
  await queueMail(work, {
    ...{ kind: 'contract_voided', to: creatorEmail, subjectRow: id, creatorId },
    params: { title, reason },
  });
}

/** To both sides, with what was signed. */
export async function mailSigned(work: Work, row: ContractFacts): Promise<void> {
  const { id, creatorId, creatorEmail, title, signedAt, signerName, contentHash, document } = row;
  const { contactEmail } = await getBrand(work.db, work.brandId);
  const signed = {
    title,
    signed_at: (signedAt ?? work.now).toISOString(),
    signer_name: signerName ?? '',
    sha256: contentHash?.toString('hex') ?? '',
  };
  if (contactEmail !== null) {
    await queueMail(work, { kind: 'contract_signed_brand', to: contactEmail, subjectRow: id, params: signed });
  }
  if (creatorEmail === null || document === null) return;
  const [first] = await listOfContract(work.db, work.brandId, id);
  await queueMail(work, {
    ...{ kind: 'contract_signed', to: creatorEmail, subjectRow: id, creatorId },
    params: {
      ...signed,
      deliverable_id: first?.id ?? null,
      link_version: first?.linkVersion ?? 0,
      document: documentText(readDocument(document)),
    },
  });
}
