import { useAll } from '../call/use.ts';

/**
 * The state of a deliverable whose contract is not signed yet, by the contract’s id: its creator does not see it and
 * owes nothing. There are few such contracts at any time.
 */
export function useUnsigned(): ReadonlyMap<string | null, 'contract_in_draft' | 'not_signed_yet'> {
  const drafts = useAll('list_contracts', { status: 'draft' }).data ?? [];
  const sentContracts = useAll('list_contracts', { status: 'sent' }).data ?? [];
  return new Map([
    ...drafts.map(({ id }) => [id, 'contract_in_draft'] as const),
    ...sentContracts.map(({ id }) => [id, 'not_signed_yet'] as const),
  ]);
}
