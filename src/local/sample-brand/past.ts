import path from 'node:path';
import { z } from 'zod';
import type { CallOf, OperationId } from '../../interfaces/nouns.ts';
import type { Caller } from '../../kit/access/keys/callers.ts';
import { openMailer } from '../../kit/engines/mail.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { findOperation } from '../../kit/operation/noun.ts';
import { makePlan } from '../../kit/operation/plans.ts';
import { flush, noPendingWrites, openWork, type PendingWrites, type Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';

interface Input<Id extends OperationId> {
  body?: CallOf<Id>['body'];
  params?: Record<string, string>;
  query?: Record<string, string>;
}

/** The product as of moments of the past, for one brand. Nothing that it does leaves this machine. */
export interface Past {
  context: Context;
  brandId: string;
  now(): Date;
  /** Moves on to a later moment. */
  moveTo(at: Date): void;
  /** Calls an operation as the brand, and returns its answer. */
  call<Id extends OperationId>(id: Id, input: Input<Id>): Promise<unknown>;
  /** The same; returns the id of what it made or changed. */
  make<Id extends OperationId>(id: Id, input: Input<Id>): Promise<string>;
  /** Plans an operation as an agent of the brand. */
  plan<Id extends OperationId>(id: Id, input: Input<Id>): Promise<void>;
  /** Makes a change: what a creator does on a page, a store by a delivery, or the brand by an operation of that name. */
  change<T>(operation: string, change: (work: Work) => Promise<T>): Promise<T>;
  /** Makes the changes of `run` in one transaction, each at its own time. Others have one each. */
  together<T>(run: () => Promise<T>): Promise<T>;
}

const Made = z.object({ data: z.object({ id: z.string() }) });

export function openPast(
  present: Context,
  caller: Caller,
  { start, receiver }: { start: Date; receiver: string },
): Past {
  let at = start;
  const { config } = present;
  const clock = { now: () => at };
  const mailer = openMailer({ smtpUrl: undefined, from: config.mailFrom, folder: path.join(config.directory, 'mail') });
  const context = { ...present, clock, mailer, config: { ...config, outboundAllow: [receiver] } };
  const { brandId } = caller;

  let open: { db: Db; left: PendingWrites } | undefined;

  async function together<T>(run: () => Promise<T>): Promise<T> {
    return await context.postgres.db.transaction().execute(async (db) => {
      open = { db, left: noPendingWrites() };
      try {
        const result = await run();
        await flush(db, brandId, { now: at, clock }, open.left);
        return result;
      } finally {
        open = undefined;
      }
    });
  }

  async function change<T>(operation: string, make: (work: Work) => Promise<T>): Promise<T> {
    if (!open) return await together(() => change(operation, make));
    const keyId = findOperation(operation) ? caller.keyId : null;
    const actor = { brandId, keyId, operation, requestId: newId('req', at.getTime()) };
    return await make(openWork(open.db, at, actor, open.left));
  }

  async function call<Id extends OperationId>(id: Id, { body = {}, params = {}, query = {} }: Input<Id>) {
    const preparedOperation = findOperation(id)?.prepare({ params, query, body, answer: 'json' });
    if (!preparedOperation?.begin) throw new Error(`There is no change ${id}.`);
    const answer = await change(id, await preparedOperation.begin(context, caller, () => {}));
    const parsed: unknown = JSON.parse(answer.toString());
    return parsed;
  }

  async function plan<Id extends OperationId>(id: Id, { body = {}, params = {}, query = {} }: Input<Id>) {
    const raw = { params, query, body, answer: 'json' } as const;
    const beginning = await findOperation(id)
      ?.prepare(raw)
      .begin?.(context, caller, () => {});
    if (!beginning) throw new Error(`There is no change ${id}.`);
    const circumstances = { byAgent: true, requestId: newId('req', at.getTime()) };
    await makePlan(context, { caller, circumstances, operation: id, raw }, beginning);
  }

  return {
    context,
    brandId,
    call,
    change,
    plan,
    together,
    now: () => at,
    moveTo: (later) => {
      if (later > at) at = later;
    },
    make: async (id, input) => Made.parse(await call(id, input)).data.id,
  };
}
