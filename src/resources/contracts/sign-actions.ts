import type { Work } from '../../operation/work.ts';
import type { Secrets } from '../../values/secrets.ts';
import { auditedOf } from './actions.ts';
import { mailSigned } from './mails.ts';
import { type ContractFacts, getContract, signSent } from './queries.ts';
import { contractOf } from './schema.ts';

export interface Signature {
  name: string;
  address: string;
  userAgent: string;
}

/**
 * Sealed for one contract, so that a copy of the table reveals neither value, and neither can be moved to another
 * contract.
 */
const evidenceContext = (contractId: string) => `contract ${contractId}`;

/**
 * The creator signs the sent contract. Undefined if it can no longer be signed, because it was already signed or has
 * expired. The signer's name, network address and browser are kept as evidence, the latter two sealed.
 */
export async function signContract(
  work: Work,
  secrets: Secrets,
  old: ContractFacts,
  { name, address, userAgent }: Signature,
): Promise<ContractFacts | undefined> {
  const { db, now, brandId } = work;
  const seal = (text: string) => secrets.seal(text, evidenceContext(old.id));
  const signature = {
    signerName: name,
    signerIpSealed: seal(address),
    signerAgentSealed: seal(userAgent.slice(0, 1_000)),
  };
  const row = await signSent(db, brandId, { id: old.id, version: old.linkVersion }, signature, now);
  if (!row) return undefined;
  const { creatorEmail: _email, creatorName: _name, items: _items, ...before } = old;
  work.audit({ resourceId: row.id, old: auditedOf(before), new: auditedOf(row) });
  const facts = await getContract(db, brandId, row.id);
  work.emit('contract.signed', contractOf(facts));
  await mailSigned(work, facts);
  return facts;
}
