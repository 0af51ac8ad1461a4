import path from 'node:path';
import { z } from 'zod';
import type { Caller } from '../../access/keys/queries.ts';
import { openMailer } from '../../engines/mail/open.ts';
import type { Context } from '../../operation/context.ts';
import { findOperation } from '../../operation/noun.ts';
import { inWork, type Work } from '../../operation/work.ts';
import type { CallOf, OperationId } from '../../resources/nouns.ts';
import { newId } from '../../values/ids.ts';

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
  /** The id of the first item of a list. */
  find<Id extends OperationId>(id: Id, input: Input<Id>): Promise<string>;
  /**
   * Makes a change in one transaction, however much it is: what a creator does on a page, a store by a delivery, or the
   * brand by an operation of that name.
   */
  change<T>(operation: string, change: (work: Work) => Promise<T>): Promise<T>;
}

const Found = z.object({ data: z.tuple([z.object({ id: z.string() })]).rest(z.unknown()) });
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

  async function call<Id extends OperationId>(id: Id, { body = {}, params = {}, query = {} }: Input<Id>) {
    const operation = findOperation(id);
    if (!operation) throw new Error(`There is no operation ${id}.`);
    const answer = await operation.prepare({ params, query, body, answer: 'json' }).run(context, caller, {
      ...{ requestId: newId('req', at.getTime()), idempotencyKey: undefined },
      ...{ setHeader: () => {}, waive: () => {}, note: () => {}, pay: () => Promise.resolve({ isPaid: true }) },
    });
    if (!Buffer.isBuffer(answer)) throw new Error(`${id} returned a stream.`);
    const parsed: unknown = JSON.parse(answer.toString());
    return parsed;
  }

  return {
    ...{ context, brandId, call, now: () => at },
    moveTo: (later) => {
      if (later > at) at = later;
    },
    make: async (id, input) => Made.parse(await call(id, input)).data.id,
    find: async (id, input) => Found.parse(await call(id, input)).data[0].id,
    change: async (operation, change) => {
      const keyId = findOperation(operation) ? caller.keyId : null;
      const actor = { brandId, keyId, operation, requestId: newId('req', at.getTime()) };
      return await inWork(context.postgres.db, clock, actor, change);
    },
  };
}
