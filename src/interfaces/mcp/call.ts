import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Request as Requested } from '../../kit/access/keys/identify.ts';
import { type Operation, type PreparedOperation, takesKey } from '../../kit/operation/operation.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import type { Door } from '../http/gate.ts';
import { isGranted } from './catalog.ts';
import { assertMayCall, createGuard } from './guard.ts';
import type { Bound } from './tools.ts';

type Arguments = Record<string, unknown>;

function readIdempotencyKey(args: Arguments): string | undefined {
  const { idempotency_key: key } = args;
  if (key === undefined || key === null || key === '') return undefined;
  if (typeof key === 'string') return key;
  throw validationError([{ field: 'idempotency_key', code: 'invalid_type', message: 'must be a string.' }]);
}

function assertGranted({ scopes }: Caller, operation: Operation): void {
  if (isGranted(scopes, operation)) return;
  throw new ApiError('POLICY_REFUSED', `The owner did not grant ${operation.id}; connect again to request it.`, {
    facts: { rule: 'scope' },
  });
}

/** Adds the brand's agent policy to a prepared request. */
function underPolicy(prepared: PreparedOperation, { operation }: Bound, args: Arguments): PreparedOperation {
  return {
    ...prepared,
    run: async (context, caller, circumstances) => {
      assertGranted(caller, operation);
      await assertMayCall(context, caller.brandId, operation, args);
      const guard = operation.hints.readOnly ? undefined : createGuard(operation, args);
      const idempotencyKey = takesKey(operation) ? readIdempotencyKey(args) : undefined;
      return await prepared.run(context, caller, { ...circumstances, byAgent: true, guard, idempotencyKey });
    },
  };
}

/** Calls an operation for an agent. The gate checks the key, the rate and credits, as for REST. */
export async function callTool(door: Door, requested: Requested, bound: Bound, args: Arguments) {
  const keyedRequest = bound.operation.isPriced
    ? { ...requested, idempotencyKey: readIdempotencyKey(args) }
    : requested;
  const answer = await door.run(bound.operation, keyedRequest, () => underPolicy(bound.prepare(args), bound, args));
  if (!Buffer.isBuffer(answer)) throw new Error(`${bound.operation.id} returned a stream to an agent.`);
  const parsed: unknown = JSON.parse(answer.toString());
  return parsed;
}
