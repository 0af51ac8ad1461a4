import { addAbortSignal } from 'node:stream';
import { type Mark, makeMark } from '../../kit/access/credits/marks.ts';
import { getRateLimit, type MeterResult, openMeter } from '../../kit/access/credits/meter.ts';
import {
  creditHeaders,
  creditsExhausted,
  openHeadroom,
  openMetering,
  unreadHeaders,
} from '../../kit/access/credits/metering.ts';
import { openRefund } from '../../kit/access/credits/refund.ts';
import type { Caller } from '../../kit/access/keys/callers.ts';
import {
  type IdentifiedCaller,
  openIdentity,
  type Request,
  refuseClassOrPlan,
  refuseForeignPage,
  refuseOtherResource,
} from '../../kit/access/keys/identify.ts';
import { type Keys, openKeys } from '../../kit/access/keys/key-cache.ts';
import { refuseAddress } from '../../kit/access/keys/limits.ts';
import {
  type AddressLimit,
  openAddressLimit,
  rateHeaders,
  rateLimited,
  type SetHeader,
} from '../../kit/access/rate-limit.ts';
import type { Context } from '../../kit/operation/context.ts';
import { assertKeyForm } from '../../kit/operation/idempotency.ts';
import type { Answer, Circumstances, Operation, PreparedOperation } from '../../kit/operation/operation.ts';
import { ApiError, ignoreFailure, keyReused, toApiError, unavailable } from '../../kit/values/errors.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { span } from '../../kit/values/tracing.ts';
import type { OpenCall } from '../../platform/requests/call-record.ts';

/** A caller that changes during its call is read again this often before the call fails. */
const MAX_READINGS = 5;
/** Streamed responses are cut off this long after the process begins to stop. */
const STREAMS_END_WITHIN_MS = 10_000;

/** The decision on a request, made without I/O: refuse it, or run it at a price. */
type Decision = { refusal: ApiError } | { prepared: PreparedOperation; price: number };
type Decide = (caller: Caller) => Decision;

/** A request of a known caller. */
interface PreparedRequest {
  request: Request;
  identified: IdentifiedCaller;
  prepare: () => PreparedOperation;
}

interface Admitted {
  caller: Caller;
  identified: IdentifiedCaller;
  decision: Decision;
  metered: MeterResult;
  ahead: Ahead | undefined;
  /** The version of the directory that a call with an id of its own reads. */
  paidVersion: string | undefined;
}

/** Work that started before its debit. Its response and headers are withheld until the debit succeeds. */
interface Ahead {
  answer: Promise<Answer>;
  headers: [name: string, value: string][];
  charge: Waivable;
}

/** True if the call's credits are given back although it has an answer. */
interface Waivable {
  isWaived: boolean;
}

function waive(charge: Waivable): void {
  charge.isWaived = true;
}

const noteIn =
  ({ outcome: found }: OpenCall): Circumstances['note'] =>
  (more) =>
    void Object.assign(found, more);

interface RefusedCall {
  refusal: ApiError;
  headers: Record<string, string>;
}

export interface Door {
  /** Runs an operation: identifies the caller, checks the rate and credits, then does the work. Throws ApiError. */
  run(operation: Operation, request: Request, prepare: () => PreparedOperation): Promise<Answer>;
  /**
   * Refuses a call that searches the directory while too many wait, if it can be told without I/O: the refusal, and headers for it.
   * Like the gate's, it is not recorded. Undefined for any other call.
   */
  refuseAtOnce(operation: Operation, call: Pick<Request, 'authorization'>): RefusedCall | undefined;
  /** Refuses a request that is not an operation, after identifying, counting and rate-limiting its caller. */
  refuse(request: Request, refusal: ApiError): Promise<never>;
  addresses: AddressLimit;
  keys: Keys;
  /** Stops the gate: streamed responses are cut off soon. */
  stop(): void;
  close(): Promise<void>;
}

export function openDoor(context: Context, metrics: Metrics): Door {
  const { clock, calls } = context;
  const engines = { db: context.postgres.db, redis: context.redis, clock };
  const keys = openKeys(context.postgres.db, clock);
  const addresses = openAddressLimit(context.redis, clock, metrics);
  const identity = openIdentity(keys, addresses, clock);
  const refund = openRefund(engines, context);
  const meter = openMetering(openMeter(engines, refund), identity, metrics, clock);
  const headroom = openHeadroom();
  /** Until when a caller is over its rate limit. Its requests are not read in the meantime. */
  const overUntil = new WeakMap<Caller, number>();
  const stopping = new AbortController();

  /**
   * Priced operations are reads. For callers far from their limits they start before the debit: run one after the
   * other, a response took 5 to 26% longer (docs/measured.md).
   */
  function beginAhead(
    request: Request,
    caller: Caller,
    decision: Decision,
    { note, mark }: { note: Circumstances['note']; mark: Mark | undefined },
  ): Ahead | undefined {
    if ('refusal' in decision || decision.price === 0) return undefined;
    if (!headroom.isAmple(caller, decision.price, clock.now().getTime())) return undefined;
    const headers: Ahead['headers'] = [];
    const setHeader: SetHeader = (name, value) => void headers.push([name, value]);
    const charge = { isWaived: false };
    const answer = decision.prepared.run(context, caller, {
      ...request,
      setHeader,
      note,
      paidVersion: mark?.version,
      waive: () => waive(charge),
      pay: () => Promise.reject(new Error('A priced call pays for itself.')),
    });
    answer.catch(ignoreFailure('the consumer of the response gets the error; a refused call has no response'));
    return { answer, headers, charge };
  }

  /** The mark of a priced call that its caller gave an id. Without a directory the call fails by itself. */
  async function findMark(request: Request, caller: Caller, decision: Decision): Promise<Mark | undefined> {
    if ('refusal' in decision || decision.price === 0) return undefined;
    if (request.idempotencyKey === undefined && request.isOwnId !== true) return undefined;
    const repeatable = await decision.prepared.repeats?.(context).catch(ignoreFailure('the call tells why'));
    return repeatable && makeMark(caller.keyId, request, repeatable);
  }

  const isOverLimit = (caller: Caller): boolean => (overUntil.get(caller) ?? 0) > clock.now().getTime();

  /** True if a caller's call of this operation searches; one that is refused for another reason does not. */
  const isSearching = (caller: Caller, operation: Operation): boolean =>
    operation.directory && !isOverLimit(caller) && refuseClassOrPlan(caller, operation) === undefined;

  function refuseAtOnce(
    operation: Operation,
    { authorization }: Pick<Request, 'authorization'>,
  ): RefusedCall | undefined {
    const caller = identity.recognize(authorization);
    if (!caller || !isSearching(caller, operation)) return undefined;
    const refusal = context.directory.admission.refuse(caller.brandId);
    if (!refusal) return undefined;
    return { refusal, headers: unreadHeaders(caller, clock.now()) };
  }

  /**
   * Waits for a place among the searches, and returns what frees it. Under overload the call is refused here, before it is
   * counted, read or charged.
   */
  async function enterDirectory(request: Request, caller: Caller, operation: Operation): Promise<() => void> {
    if (!isSearching(caller, operation)) return () => undefined;
    try {
      return await context.directory.admission.enter(caller.brandId, request.gone);
    } catch (error) {
      setHeaders(request.setHeader, unreadHeaders(caller, clock.now()));
      throw error;
    }
  }

  /**
   * Counts and charges an identified caller. If the caller turns out to be outdated, it is read again and the
   * decision is repeated.
   */
  async function admit(
    request: Request,
    recognized: IdentifiedCaller,
    decide: Decide,
    call: OpenCall,
  ): Promise<Admitted> {
    let identified = recognized;
    const note = noteIn(call);
    let countedAs: number | undefined;
    for (let reading = 0; reading < MAX_READINGS; reading += 1) {
      const { caller } = identified;
      call.caller = caller;
      const isOver = countedAs === undefined && isOverLimit(caller);
      const decision = isOver ? unread : decide(caller);
      const price = 'refusal' in decision ? 0 : decision.price;
      const mark = await findMark(request, caller, decision);
      const earlyRead = countedAs === undefined ? beginAhead(request, caller, decision, { note, mark }) : undefined;
      headroom.forget(caller);
      const meterResult = await span('rate and credits', {}, () =>
        meter(request, identified, { credits: price, countedAs, mark }),
      );
      headroom.note(caller, meterResult);
      call.count = meterResult.calls;
      const isAllowed = meterResult.calls <= getRateLimit(caller);
      if (!isAllowed) overUntil.set(caller, meterResult.windowEndMs);
      const paidVersion = meterResult.paidVersion ?? mark?.version;
      const ahead = paidVersion === mark?.version ? earlyRead : undefined;
      if (meterResult.state === 'ok' && !(isOver && isAllowed))
        return { caller, identified, decision, metered: meterResult, ahead, paidVersion };
      countedAs = meterResult.calls;
      if (meterResult.state === 'ok') continue;
      identified = await identity.identifyAgain(request, identified.key, 0, true);
    }
    throw unavailable('The subscription', new Error('It kept changing during the call.'), 1);
  }

  async function giveBack({ caller, metered }: Admitted, setHeader: SetHeader): Promise<void> {
    if (!metered.charge) return;
    setHeaders(setHeader, creditHeaders(caller, metered, 0, clock.now()));
    metrics.credits.inc({ kind: 'refund' }, metered.charge.credits);
    await refund(metered.charge);
  }

  /** Pays for the blocks of a walk. The call is counted once; the headers show the first block's charge. */
  function openPay(
    { identified: first, metered: { calls } }: Admitted,
    request: Request,
    call: OpenCall,
  ): Circumstances['pay'] {
    let identified = first;
    let isFirst = true;
    return async (credits, block) => {
      for (let reading = 0; reading < MAX_READINGS; reading += 1) {
        const { caller } = identified;
        const meterResult = await meter(request, identified, { credits, countedAs: calls, block });
        if (meterResult.state !== 'ok') {
          identified = await identity.identifyAgain(request, identified.key, 0, true);
          continue;
        }
        const chargedCredits = meterResult.charge?.credits ?? 0;
        if (isFirst) setHeaders(request.setHeader, creditHeaders(caller, meterResult, chargedCredits, clock.now()));
        isFirst = false;
        if (!meterResult.charge && !meterResult.isPaid) throw creditsExhausted(credits, meterResult);
        metrics.credits.inc({ kind: 'charge' }, chargedCredits);
        call.credits += chargedCredits;
        return meterResult;
      }
      throw unavailable('The subscription', new Error('It kept changing during the call.'), 1);
    };
  }

  async function run(operation: Operation, request: Request, prepare: () => PreparedOperation): Promise<Answer> {
    return await recorded(operation.id, request, async (call) => {
      const identified = await span('key', {}, () => identity.identify(request));
      const leaveDirectory = await enterDirectory(request, identified.caller, operation);
      return await runAdmitted(operation, { request, identified, prepare }, call).finally(leaveDirectory);
    });
  }

  async function runAdmitted(
    operation: Operation,
    { request, identified, prepare }: PreparedRequest,
    call: OpenCall,
  ): Promise<{ answer: Answer; status: number }> {
    const decideOn: Decide = (caller) => decide(context, request, caller, operation, prepare);
    const admission = await admit(request, identified, decideOn, call);
    const prepared = assertAdmitted(admission, clock.now(), request.setHeader);
    if (admission.metered.charge) metrics.credits.inc({ kind: 'charge' }, admission.metered.charge.credits);
    if (prepared.ignored.length > 0) request.setHeader('x-ignored-params', ignoredHeader(prepared.ignored));
    try {
      const { answer, charge } = await finish(prepared, admission, request, call);
      if (charge.isWaived) await giveBack(admission, request.setHeader);
      else call.credits += admission.metered.charge?.credits ?? 0;
      return { answer, status: prepared.status ?? operation.status };
    } catch (error) {
      await giveBack(admission, request.setHeader);
      throw error;
    }
  }

  /** Does the work and records what came of it; a stream is recorded when it ends. */
  async function recorded(
    operation: string,
    request: Request,
    work: (call: OpenCall) => Promise<{ answer: Answer; status: number }>,
  ): Promise<Answer> {
    const call = calls.begin(operation, request.requestId);
    try {
      const { answer, status } = await work(call);
      if (Buffer.isBuffer(answer)) {
        calls.end(call, status);
        return answer;
      }
      return addAbortSignal(stopping.signal, answer).once('close', () => calls.end(call, status));
    } catch (error) {
      const { status, code } = toApiError(error);
      calls.end(call, status, code);
      throw error;
    }
  }

  async function finish(prepared: PreparedOperation, admitted: Admitted, request: Request, call: OpenCall) {
    const { caller, ahead } = admitted;
    if (!ahead) {
      const charge = { isWaived: false };
      const pay = openPay(admitted, request, call);
      const { paidVersion } = admitted;
      const circumstances = { ...request, pay, note: noteIn(call), waive: () => waive(charge), paidVersion };
      return { answer: await prepared.run(context, caller, circumstances), charge };
    }
    const answer = await ahead.answer;
    for (const [name, value] of ahead.headers) request.setHeader(name, value);
    return { answer, charge: ahead.charge };
  }

  async function refuse(request: Request, refusal: ApiError): Promise<never> {
    await recorded('', request, async (call) => {
      const decideOn: Decide = (caller) => ({
        refusal: refuseAddress(caller.limits, request.address) ?? refuseClassOrPlan(caller, undefined) ?? refusal,
      });
      const identified = await identity.identify(request);
      assertAdmitted(await admit(request, identified, decideOn, call), clock.now(), request.setHeader);
      throw refusal;
    });
    throw refusal;
  }

  function stop(): void {
    setTimeout(() => stopping.abort(), STREAMS_END_WITHIN_MS).unref();
  }

  return { run, refuseAtOnce, refuse, keys, addresses, stop, close: () => keys.close() };
}

/** The error if the request came from another site's page, or to a resource that its token is not for. */
const refusePlace = (request: Request, caller: Caller, operation: Operation): ApiError | undefined =>
  refuseForeignPage(request, caller, operation) ??
  refuseOtherResource(request, caller) ??
  refuseAddress(caller.limits, request.address);

/** The decision for a caller over its rate limit: the request is not examined further. */
const unread: Decision = { refusal: new ApiError('RATE_LIMITED', 'Too many calls; try again shortly.') };

/** Checks the key's class, the plan and the input in this order, and returns the price. */
function decide(
  context: Context,
  request: Request,
  caller: Caller,
  operation: Operation,
  prepare: () => PreparedOperation,
): Decision {
  const refusal = refusePlace(request, caller, operation) ?? refuseClassOrPlan(caller, operation);
  if (refusal) return { refusal };
  try {
    const prepared = prepare();
    if (operation.isPriced) assertKeyForm(request);
    return { prepared, price: caller.kind === 'data' ? prepared.price(context) : 0 };
  } catch (error) {
    return { refusal: toApiError(error) };
  }
}

function setHeaders(setHeader: SetHeader, headers: Record<string, string>): void {
  for (const name in headers) setHeader(name, headers[name] ?? '');
}

/** Throws the first that applies: the rate limit, the refusal, missing credits. */
function assertAdmitted({ caller, decision, metered }: Admitted, now: Date, setHeader: SetHeader): PreparedOperation {
  setHeaders(setHeader, rateHeaders(metered, getRateLimit(caller)));
  setHeaders(setHeader, creditHeaders(caller, metered, metered.charge?.credits ?? 0, now));
  const limit = getRateLimit(caller);
  if (metered.calls > limit) throw rateLimited(metered, limit, now.getTime());
  if ('refusal' in decision) throw decision.refusal;
  if (decision.price === 0) return decision.prepared;
  if (metered.isReused) throw keyReused();
  if (metered.isPaid) setHeader('idempotency-replayed', 'true');
  else if (!metered.charge) throw creditsExhausted(decision.price, metered);
  return decision.prepared;
}

/** A percent-encoded name of at most 64 bytes, cut at a whole character. */
function encodedName(name: string): string {
  let encodedText = '';
  for (const character of name.toWellFormed()) {
    const longer = encodedText + encodeURIComponent(character);
    if (longer.length > 64) break;
    encodedText = longer;
  }
  return encodedText;
}

/** The value of `X-Ignored-Params`: at most 20 names, in ASCII. */
const ignoredHeader = (names: readonly string[]): string => names.slice(0, 20).map(encodedName).join(', ');
