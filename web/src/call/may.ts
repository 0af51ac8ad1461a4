import { operations } from 'virtual:operations';
import type { OperationId } from './call.ts';
import { useCall } from './use.ts';

const RANKS = ['viewer', 'manager', 'owner'] as const;

/** Whether who is signed in may call an operation, by their role; the door says the same. */
export function useMay(): (id: OperationId) => boolean {
  const role = useCall('get_session').data?.data.person.role;
  return (id) => role !== undefined && RANKS.indexOf(role) >= (operations[id]?.[2] ?? 0);
}
