import type { Request as Requested } from '../access/keys/identify.ts';
import type { Door } from '../http/gate.ts';
import type { Prepared } from '../operation/operation.ts';
import { validationError } from '../values/errors.ts';
import { assertMayCall, guardOf } from './policy.ts';
import type { Bound } from './tools.ts';

type Arguments = Record<string, unknown>;

function keyOf(args: Arguments): string | undefined {
  const { idempotency_key: key } = args;
  if (key === undefined || key === null || key === '') return undefined;
  if (typeof key === 'string') return key;
  throw validationError([{ field: 'idempotency_key', code: 'invalid_type', message: 'must be a string.' }]);
}

/** Adds the brand's agent policy to a prepared request. */
function underPolicy(prepared: Prepared, { operation }: Bound, args: Arguments): Prepared {
  return {
    ...prepared,
    run: async (context, caller, circumstances) => {
      await assertMayCall(context, caller.brandId, operation, args);
      const guard = operation.hints.readOnly ? undefined : guardOf(operation, args);
      const idempotencyKey = operation.hints.readOnly ? undefined : keyOf(args);
      return await prepared.run(context, caller, { ...circumstances, byAgent: true, guard, idempotencyKey });
    },
  };
}

/** Calls an operation for an agent. The gate checks the key, the rate and credits, as for REST. */
export async function callTool(door: Door, requested: Requested, bound: Bound, args: Arguments) {
  const answer = await door.run(bound.operation, requested, () => underPolicy(bound.prepare(args), bound, args));
  if (!Buffer.isBuffer(answer)) throw new Error(`${bound.operation.id} returned a stream to an agent.`);
  const parsed: unknown = JSON.parse(answer.toString());
  return parsed;
}
