import { addAbortSignal } from 'node:stream';
import { creditHeaders, creditsExhausted } from '../access/credits/headers.ts';
import { openHeadroom } from '../access/credits/headroom.ts';
import { type Metered, openMeter, rateLimitOf } from '../access/credits/meter.ts';
import { openMetering } from '../access/credits/metering.ts';
import { openRefund } from '../access/credits/refund.ts';
import { type Identified, openIdentity, type Request } from '../access/keys/identify.ts';
import { type Keys, openKeys } from '../access/keys/keys.ts';
import type { Caller } from '../access/keys/queries.ts';
import { refuseClassOrPlan, refuseForeignPage } from '../access/keys/rules.ts';
import { type AddressLimit, openAddressLimit } from '../access/rate/address.ts';
import { rateHeaders, rateLimited, type SetHeader } from '../access/rate/headers.ts';
import type { Context } from '../operation/context.ts';
import type { Answer, Operation, Prepared } from '../operation/operation.ts';
import { ApiError, ignoreFailure, toApiError, unavailable } from '../values/errors.ts';
import type { Metrics } from '../values/metrics.ts';

/** A caller that changes while it calls is read again this often before the call is given up. */
const MAX_READINGS = 5;
/** What is still being read when the process has been stopping for this long is broken off. */
const STREAMS_END_WITHIN_MS = 10_000;

/** What a request may do, decided in the process without I/O: refuse, or run at a price. */
type Decision = { refusal: ApiError } | { prepared: Prepared; price: number };
type Decide = (caller: Caller) => Decision;

interface Admitted {
  caller: Caller;
  decision: Decision;
  metered: Metered;
  ahead: Ahead | undefined;
}

/** Work that began beside its debit; nobody sees its answer or its headers before the debit is made. */
interface Ahead {
  answer: Promise<Answer>;
  headers: [name: string, value: string][];
}

export interface Door {
  /** Runs an operation for whoever calls: who, how often, at what price, then the work. Throws ApiError. */
  run(operation: Operation, request: Request, prepare: () => Prepared): Promise<Answer>;
  /** Answers what is no operation of the API: the caller is still told apart, counted and limited. */
  refuse(request: Request, refusal: ApiError): Promise<never>;
  addresses: AddressLimit;
  keys: Keys;
  /** From here on nobody may read a streamed answer for long. */
  stop(): void;
  close(): Promise<void>;
}

export function openDoor(context: Context, metrics: Metrics): Door {
  const { clock } = context;
  const engines = { db: context.postgres.db, redis: context.redis, clock };
  const keys = openKeys(context.postgres.db, clock);
  const addresses = openAddressLimit(context.redis, clock, metrics);
  const identity = openIdentity(keys, addresses, clock);
  const refund = openRefund(engines, context);
  const meter = openMetering(openMeter(engines, refund), identity, metrics, clock);
  const headroom = openHeadroom();
  /** Until when a caller is over its rate: what it sends is not read meanwhile. */
  const overUntil = new WeakMap<Caller, number>();
  const stopping = new AbortController();

  /**
   * What costs credits is a read. For a caller far from its limits it begins at once, beside its debit: one after the
   * other, an answer took 5 to 26 % longer (docs/measured.md).
   */
  function beginAhead(request: Request, caller: Caller, decision: Decision): Ahead | undefined {
    if ('refusal' in decision || decision.price === 0) return undefined;
    if (!headroom.isAmple(caller, decision.price, clock.now().getTime())) return undefined;
    const headers: Ahead['headers'] = [];
    const setHeader: SetHeader = (name, value) => void headers.push([name, value]);
    const answer = decision.prepared.run(context, caller, { ...request, setHeader });
    answer.catch(ignoreFailure('whoever takes the answer is told; a call that is refused has none'));
    return { answer, headers };
  }

  /** Who calls, how often and at what price. A caller that turns out to be outdated is read again and decided anew. */
  async function admit(request: Request, decide: Decide): Promise<Admitted> {
    let identified: Identified = await identity.identify(request);
    let countedAs: number | undefined;
    for (let reading = 0; reading < MAX_READINGS; reading += 1) {
      const { caller } = identified;
      const isOver = countedAs === undefined && (overUntil.get(caller) ?? 0) > clock.now().getTime();
      const decision = isOver ? unread : decide(caller);
      const price = 'refusal' in decision ? 0 : decision.price;
      const ahead = countedAs === undefined ? beginAhead(request, caller, decision) : undefined;
      headroom.forget(caller);
      const metered = await meter(request, identified, { credits: price, countedAs });
      headroom.note(caller, metered);
      const isAllowed = metered.calls <= rateLimitOf(caller);
      if (!isAllowed) overUntil.set(caller, metered.windowEndMs);
      if (metered.state === 'ok' && !(isOver && isAllowed)) return { caller, decision, metered, ahead };
      countedAs = metered.calls;
      if (metered.state === 'ok') continue;
      identified = await identity.identifyAgain(request, identified.key, 0, true);
    }
    throw unavailable('The subscription', new Error('It kept changing while it was called.'), 1);
  }

  async function giveBack({ caller, metered }: Admitted, setHeader: SetHeader): Promise<void> {
    if (!metered.charge) return;
    setHeaders(setHeader, creditHeaders(caller, metered, 0, clock.now()));
    metrics.credits.inc({ kind: 'refund' }, metered.charge.credits);
    await refund(metered.charge);
  }

  async function run(operation: Operation, request: Request, prepare: () => Prepared): Promise<Answer> {
    const admitted = await admit(request, (caller) =>
      decide(context, refuseForeignPage(request, caller, operation), caller, operation, prepare),
    );
    const prepared = assertAdmitted(admitted, clock.now(), request.setHeader);
    if (admitted.metered.charge) metrics.credits.inc({ kind: 'charge' }, admitted.metered.charge.credits);
    if (prepared.ignored.length > 0) request.setHeader('x-ignored-params', ignoredHeader(prepared.ignored));
    try {
      const answer = await finish(prepared, admitted, request);
      return Buffer.isBuffer(answer) ? answer : addAbortSignal(stopping.signal, answer);
    } catch (error) {
      await giveBack(admitted, request.setHeader);
      throw error;
    }
  }

  async function finish(prepared: Prepared, { caller, ahead }: Admitted, request: Request): Promise<Answer> {
    if (!ahead) return await prepared.run(context, caller, request);
    const answer = await ahead.answer;
    for (const [name, value] of ahead.headers) request.setHeader(name, value);
    return answer;
  }

  async function refuse(request: Request, refusal: ApiError): Promise<never> {
    const admitted = await admit(request, (caller) => ({ refusal: refuseClassOrPlan(caller, undefined) ?? refusal }));
    assertAdmitted(admitted, clock.now(), request.setHeader);
    throw refusal;
  }

  function stop(): void {
    setTimeout(() => stopping.abort(), STREAMS_END_WITHIN_MS).unref();
  }

  return { run, refuse, keys, addresses, stop, close: () => keys.close() };
}

/** Of a caller over its rate, who is told that and nothing else. */
const unread: Decision = { refusal: new ApiError('RATE_LIMITED', 'Too many calls; try again shortly.') };

/** Class, plan and shape, in this order; the price of what passed. */
function decide(
  context: Context,
  foreign: ApiError | undefined,
  caller: Caller,
  operation: Operation,
  prepare: () => Prepared,
): Decision {
  const refusal = foreign ?? refuseClassOrPlan(caller, operation);
  if (refusal) return { refusal };
  try {
    const prepared = prepare();
    return { prepared, price: caller.kind === 'data' ? prepared.price(context) : 0 };
  } catch (error) {
    return { refusal: toApiError(error) };
  }
}

function setHeaders(setHeader: SetHeader, headers: Record<string, string>): void {
  for (const name in headers) setHeader(name, headers[name] ?? '');
}

/** Rate before what was decided, what was decided before credits. */
function assertAdmitted({ caller, decision, metered }: Admitted, now: Date, setHeader: SetHeader): Prepared {
  setHeaders(setHeader, rateHeaders(metered, rateLimitOf(caller)));
  setHeaders(setHeader, creditHeaders(caller, metered, metered.charge?.credits ?? 0, now));
  const limit = rateLimitOf(caller);
  if (metered.calls > limit) throw rateLimited(metered, limit, now.getTime());
  if ('refusal' in decision) throw decision.refusal;
  if (decision.price > 0 && !metered.charge) throw creditsExhausted(decision.price, metered);
  return decision.prepared;
}

/** A name percent-encoded, cut at a whole character to at most 64 bytes. */
function encodedName(name: string): string {
  let encoded = '';
  for (const character of name.toWellFormed()) {
    const longer = encoded + encodeURIComponent(character);
    if (longer.length > 64) break;
    encoded = longer;
  }
  return encoded;
}

/** At most 20 names: a header carries ASCII only. */
const ignoredHeader = (names: readonly string[]): string => names.slice(0, 20).map(encodedName).join(', ');
