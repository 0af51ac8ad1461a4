import type { Db } from '../../../kit/engines/postgres/open.ts';
import { violates } from '../../../kit/engines/postgres/violation.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { ApiError, type Problem, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import { given } from '../../../kit/values/patch.ts';
import {
  deleteFolder,
  findFolderNamed,
  getFolder,
  heightOf,
  insertFolder,
  listAncestors,
  lockFolder,
  lockTree,
  updateFolder,
} from './queries.ts';
import { type FolderCreate, type FolderPatch, MAX_DEPTH } from './schema.ts';

const wrongParent = (code: Problem['code'], message: string) =>
  validationError([{ field: 'parent_id', code, message }]);

async function nameTaken(db: Db, brandId: string, parentId: string | null, name: string): Promise<ApiError> {
  const existing = await findFolderNamed(db, brandId, parentId, name);
  const message = `There is already a folder named ${JSON.stringify(name)} here.`;
  return new ApiError('CONFLICT', message, { facts: { existing_id: existing?.id ?? null } });
}

/** A folder may move into any of the brand's folders except itself and those inside it, at most ten levels deep. */
async function assertParent(db: Db, brandId: string, parentId: string, moved: { id: string } | undefined) {
  const line = await listAncestors(db, brandId, parentId);
  if (line.length === 0) throw wrongParent('not_found', 'is not a folder of this brand.');
  if (moved && line.includes(moved.id)) throw wrongParent('circular', 'is the folder itself, or is within it.');
  const height = moved ? await heightOf(db, brandId, moved.id) : 1;
  if (line.length + height <= MAX_DEPTH) return;
  throw wrongParent('too_deep', `would put a folder deeper than ${MAX_DEPTH} levels.`);
}

export async function createFolder(work: Work, { name, parent_id: parentId = null }: FolderCreate) {
  const { db, now, brandId } = work;
  await lockTree(db, brandId);
  if (parentId !== null) await assertParent(db, brandId, parentId, undefined);
  const id = newId('fld', now.getTime());
  const row = await insertFolder(db, { id, brandId, name, parentId, createdAt: now, updatedAt: null });
  if (!row) throw await nameTaken(db, brandId, parentId, name);
  work.audit({ resourceId: row.id, old: null, new: row });
  return await getFolder(db, brandId, row.id);
}

export async function patchFolder(work: Work, id: string, { name, parent_id: parentId }: FolderPatch) {
  const { db, now, brandId } = work;
  await lockTree(db, brandId);
  const old = await lockFolder(db, brandId, id);
  if (parentId != null) await assertParent(db, brandId, parentId, { id });
  const [newParent, newName] = [parentId === undefined ? old.parentId : parentId, name ?? old.name];
  // With the tree locked, no other change can take the name before this one commits.
  const taken = await findFolderNamed(db, brandId, newParent, newName);
  if (taken && taken.id !== id) throw await nameTaken(db, brandId, newParent, newName);
  const row = await updateFolder(db, brandId, id, { ...given({ name, parentId }), updatedAt: now });
  work.audit({ resourceId: id, old, new: row });
  return await getFolder(db, brandId, id);
}

const NOT_EMPTY = ['assets_brand_id_folder_id_fkey', 'asset_folders_brand_id_parent_id_fkey'];

/** Only an empty folder can be deleted, because assets and folders refer to the one that contains them. */
export async function removeFolder(work: Work, id: string): Promise<void> {
  const { db, brandId } = work;
  const old = await lockFolder(db, brandId, id);
  await deleteFolder(db, brandId, id).catch((error: unknown) => {
    if (!NOT_EMPTY.some((constraint) => violates(error, constraint))) throw error;
    throw new ApiError('CONFLICT', 'The folder is not empty; move or delete its contents first.');
  });
  work.audit({ resourceId: id, old, new: null });
}
