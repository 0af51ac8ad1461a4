import { operations } from 'virtual:operations';
import type { Answer, OperationId } from './call.ts';
import { useCall } from './use.ts';

const RANKS: Readonly<Record<Answer<'get_session'>['data']['person']['role'], number>> = {
  viewer: 0,
  manager: 1,
  owner: 2,
};

/** True if the signed-in person's role may call an operation; the API decides the same. */
export function useMay(): (id: OperationId) => boolean {
  const role = useCall('get_session').data?.data.person.role;
  return (id) => role !== undefined && RANKS[role] >= (operations[id]?.[2] ?? 0);
}
