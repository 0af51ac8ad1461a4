import { operations } from 'virtual:operations';
import { listEnum } from '../kit/every.ts';
import type { Answer, OperationId } from './call.ts';
import { useCall } from './use.ts';

const RANKS = listEnum<Answer<'get_session'>['data']['person']['role']>()(['viewer', 'manager', 'owner']);

/** True if the signed-in person's role may call an operation; the API decides the same. */
export function useMay(): (id: OperationId) => boolean {
  const role = useCall('get_session').data?.data.person.role;
  return (id) => role !== undefined && RANKS.indexOf(role) >= (operations[id]?.[2] ?? 0);
}
