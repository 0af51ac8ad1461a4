import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import type { OfferName } from './offers.ts';

/** What the run has once for all its tests; the first that asks waits until it is made. */
export async function offered(name: OfferName): Promise<string> {
  const answer = await fetch(`${inject('offersAt')}/${name}`);
  const said = await answer.text();
  if (!answer.ok) throw new Error(`There is no ${name}: ${said}`);
  return said;
}

/** The folder of the client as a server builds it at its first start. */
export const builtClient = (): Promise<string> => offered('client');

/** Spares a server that starts on an empty `directory` the build of the client. */
export async function linkClient(directory: string): Promise<void> {
  const built = await builtClient();
  await symlink(built, path.join(directory, path.basename(built)));
}
