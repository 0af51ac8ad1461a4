import { ignoreFailure } from '../../values/errors.ts';
import { type AccessEngines, restoreAccess } from './access.ts';

/** Updates Redis at once after a change of keys, without waiting for the worker's next pass. */
export async function refreshAccess(engines: AccessEngines, subscriptionIds: readonly string[]): Promise<void> {
  for (const id of subscriptionIds) {
    const version = async () => undefined;
    await restoreAccess(engines, id, version).catch(ignoreFailure('the worker does the same within a second'));
  }
}
