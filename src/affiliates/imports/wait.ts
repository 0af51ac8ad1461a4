import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../kit/operation/context.ts';
import { imports, type ListedImport } from './imports.ts';

const STEP_MS = 200;

const isBusy = ({ status }: ListedImport) => status === 'reading' || status === 'running' || status === 'undoing';

/** The import once no worker has to do with it, or after some seconds as it is then. */
export async function waitForImport(
  { postgres }: Context,
  brandId: string,
  id: string,
  seconds: number,
): Promise<ListedImport> {
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    const row = await imports.get(postgres.db, brandId, id);
    if (!isBusy(row) || performance.now() + STEP_MS > until) return row;
    await pause(STEP_MS);
  }
}
