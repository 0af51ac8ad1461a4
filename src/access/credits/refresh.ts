import { ignoreFailure } from '../../values/errors.ts';
import { type AccessEngines, restoreAccess } from './access.ts';

/** After a change of keys that was made beside others: Redis learns it at once, not when the worker next looks. */
export async function refreshAccess(engines: AccessEngines, subscriptionIds: readonly string[]): Promise<void> {
  for (const id of subscriptionIds) {
    const version = async () => undefined;
    await restoreAccess(engines, id, version).catch(ignoreFailure('the worker does the same within a second'));
  }
}
