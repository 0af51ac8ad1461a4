import type { Db } from '../../kit/engines/postgres/open.ts';
import { html } from '../../kit/html/html.ts';
import { page } from '../../kit/html/page.ts';
import { listMailStates } from '../../kit/mail/mails.ts';
import type { Context } from '../../kit/operation/context.ts';
import { act, create, get, list, patch } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { WEIGHED_COMPENSATION } from '../../kit/values/compensation.ts';
import { notFound } from '../../kit/values/errors.ts';
import { toWire } from '../../kit/values/wire.ts';
import { expireContracts } from './contracts.jobs.ts';
import { contractMails } from './contracts.mails.ts';
import {
  Contract,
  ContractCreate,
  ContractDetail,
  ContractDocument,
  ContractFilter,
  ContractPatch,
  ContractSaved,
  toContract,
  toContractSaved,
  toContractWire,
} from './contracts.shapes.ts';
import {
  type ContractFacts,
  contracts,
  createContract,
  getContract,
  patchContract,
  sendContract,
  signatureUrl,
  voidContract,
} from './contracts.ts';
import { documentHtml, readDocument } from './document.ts';

const tag = 'Contracts';
/** A contract with the state of the mail whose link works now. */
async function showContract(db: Db, row: ContractFacts) {
  const subject = `${row.id}:${row.linkVersion}`;
  const [mail] = await listMailStates(db, row.brandId, 'contract_sent', [subject]);
  const isDelayed = mail?.state === 'queued' && mail.reason !== null;
  return ContractDetail.parse({ ...toContractWire(row), email_state: isDelayed ? 'delayed' : (mail?.state ?? null) });
}

const getPageLinks = async ({ pageLinks }: Context) => pageLinks;

const contractOperations = [
  list({
    id: 'list_contracts',
    path: '/v1/contracts',
    tag,
    summary: 'List contracts',
    description: 'Newest first.',
    query: ContractFilter,
    item: Contract,
    rows: contracts,
    itemOf: toContract,
  }),
  create({
    id: 'create_contract',
    path: '/v1/contracts',
    tag,
    summary: 'Create a contract, and send it for signature if requested',
    description:
      'Creates one deliverable for each unit of `deliverables[].quantity`. `signature_url` is null for a draft; with ' +
      '`send_for_signature` the creator also gets the link by email.',
    forAgents: {
      description: 'A draft, unless `send_for_signature` emails the creator the link to sign.',
      example: {
        creator_email: 'ana@example.com',
        title: 'Summer launch',
        deliverables: [{ type: 'reel', quantity: 2 }],
      },
    },
    body: ContractCreate,
    item: ContractSaved,
    weighs: WEIGHED_COMPENSATION,
    sealsAnswer: true,
    lookUp: getPageLinks,
    apply: async (work, { body }, links) => {
      const row = await createContract(work, body);
      return toContractSaved(row, signatureUrl(links, row));
    },
  }),
  get({
    id: 'get_contract',
    path: '/v1/contracts/{id}',
    tag,
    summary: 'Get a contract',
    description: 'Includes its usage rights and the name it was signed with.',
    item: ContractDetail,
    find: async ({ postgres }, { caller, params }) =>
      await showContract(postgres.db, await getContract(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    id: 'update_contract',
    path: '/v1/contracts/{id}',
    tag,
    summary: 'Change a draft contract',
    description:
      'Only the fields that you send change; null clears one. A contract that was sent cannot be changed: 409.',
    forAgents: {
      description: 'A contract that was sent cannot be changed.',
      example: { id: 'ctr_…', title: 'Summer launch' },
    },
    body: ContractPatch,
    item: ContractDetail,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    weighs: WEIGHED_COMPENSATION,
    apply: async (work, { params, body }) => await showContract(work.db, await patchContract(work, params.id, body)),
  }),
  get({
    id: 'get_contract_document',
    path: '/v1/contracts/{id}/document',
    tag,
    summary: 'Get the text of a sent contract',
    description: 'Exactly what the creator signs, with its SHA-256. A draft has no text yet: 404.',
    forAgents: { description: 'Exactly what the creator signs, with its SHA-256. A draft has no text yet.' },
    item: ContractDocument,
    find: async ({ postgres }, { caller, params }) => {
      const row = await getContract(postgres.db, caller.brandId, params.id);
      const { document, contentHash } = row;
      if (document === null || contentHash === null) throw notFound('contract');
      const text = readDocument(document);
      const content = html`<h1>${text.title}</h1>${documentHtml(text)}`;
      return {
        ...toWire(row),
        contract_id: row.id,
        sha256: contentHash.toString('hex'),
        document,
        html: page(`${text.title} – ${text.brand.name}`, content),
      };
    },
  }),
  act({
    id: 'send_contract',
    path: '/v1/contracts/{id}/send',
    tag,
    summary: 'Send a contract for signature, or send it again',
    description: 'The creator gets an email with a new link. Links from earlier emails stop working.',
    item: ContractSaved,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    sealsAnswer: true,
    lookUp: getPageLinks,
    apply: async (work, { params }, links) => {
      const row = await sendContract(work, params.id);
      return toContractSaved(row, signatureUrl(links, row));
    },
  }),
  act({
    id: 'void_contract',
    path: '/v1/contracts/{id}/void',
    tag,
    summary: 'Void a contract before it is signed',
    description:
      'It becomes `expired`, its link stops working, and its deliverables are cancelled. Repeating the call changes nothing.',
    item: ContractDetail,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { idempotent: true, destructive: true },
    apply: async (work, { params }) => await showContract(work.db, await voidContract(work, params.id)),
  }),
] as const;

export const contractsNoun = noun({
  name: 'contracts',
  tag: {
    name: 'Contracts',
    about: 'Agreements that creators sign on a private page.',
  },
  ids: { contracts: 'ctr' },
  operations: contractOperations,
  jobs: [expireContracts],
  mails: contractMails,
});
