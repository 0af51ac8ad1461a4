import { endOf, startOf } from '../../analytics/figures/schema.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { findHead } from '../ledger/queries.ts';
import { findPayee } from '../payouts/queries.ts';
import { getStatement, insertStatement, type StatementFacts, sumStatement } from './queries.ts';
import { type StatementCreate, totalsOf } from './schema.ts';

const LINK_LIVES_MS = 90 * 24 * 60 * 60 * 1_000;

interface MadeStatement {
  row: StatementFacts;
  expiresAt: Date;
  isMailed: boolean;
}

/** Creates a statement from the current ledger. */
export async function createStatement(work: Work, input: StatementCreate): Promise<MadeStatement> {
  const { db, now, brandId } = work;
  const { creator_email: email, from, to } = input;
  const creatorId = await findPayee(db, brandId, email);
  if (creatorId === undefined) {
    const message = `${email} is not on the roster.`;
    throw validationError([{ field: 'creator_email', code: 'not_on_roster', message }]);
  }
  const { seq, hash } = await findHead(db, brandId);
  const id = newId('stm', now.getTime());
  const period = { brandId, creatorId, fromAt: startOf(from), untilAt: endOf(to), ledgerSeq: seq };
  const totals = JSON.stringify(totalsOf(await sumStatement(db, period)));
  const facts = { fromText: from, toText: to, ledgerHash: hash, totals, createdAt: now };
  await insertStatement(db, { id, ...period, ...facts });
  const row = await getStatement(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: { ...row, ledgerHash: hash?.toString('hex') ?? null } });
  const expiresAt = new Date(now.getTime() + LINK_LIVES_MS);
  const { linkVersion, creatorEmail } = row;
  if (!input.send_email || creatorEmail === null) return { row, expiresAt, isMailed: false };
  const params = { statement_id: id, link_version: linkVersion, from, to, expires_at: expiresAt.toISOString() };
  const state = await queueMail(work, { kind: 'statement_ready', to: creatorEmail, subjectRow: id, creatorId, params });
  return { row, expiresAt, isMailed: state === 'queued' };
}
