import type { Work } from '../../operation/work.ts';
import { ApiError } from '../../values/errors.ts';
import { changeCreator, ensureCreator } from '../creators/actions.ts';
import { type CreatorRow, listMatching } from '../creators/queries.ts';
import { findEntry } from '../roster/queries.ts';
import type { ApplicationRow } from './queries.ts';

const same = (a: string | null, b: string | null) => a !== null && a.toLowerCase() === b?.toLowerCase();

/** The application's claims that already belong to this creator. */
function claimedOf(application: ApplicationRow, { email, igHandle, ttHandle }: CreatorRow): string {
  const claims = [
    same(application.creatorEmail, email) ? `the e-mail address ${email}` : undefined,
    same(application.creatorPhotoApp, igHandle) ? `the photo app handle ${igHandle}` : undefined,
    same(application.creatorVideoApp, ttHandle) ? `the video app handle ${ttHandle}` : undefined,
  ];
  return claims.filter((claim) => claim !== undefined).join(' and ');
}

/** A creator without a roster entry is identified by the creator id. */
async function conflict(work: Work, application: ApplicationRow, owners: readonly CreatorRow[]): Promise<ApiError> {
  const ids: string[] = [];
  for (const { id } of owners) ids.push((await findEntry(work.db, work.brandId, id))?.id ?? id);
  const whose = owners.map((owner, i) => `${claimedOf(application, owner)} is of ${ids[i]}`).join(', ');
  const message = `The application's claims belong to different creators: ${whose}. Merge them first, with POST /v1/roster/{id}/merge.`;
  return new ApiError('CONFLICT', message, { facts: { existing_ids: ids } });
}

/**
 * The id of the creator that an accepted application belongs to; missing claims are added to the creator. Claims that
 * belong to different creators are a CONFLICT. A handle of a creator with another e-mail address stays with that
 * creator.
 */
export async function personOf(work: Work, application: ApplicationRow): Promise<string> {
  if (application.creatorId !== null) return application.creatorId;
  const { creatorEmail: email, creatorName: name, creatorPhotoApp: igHandle, creatorVideoApp: ttHandle } = application;
  const owners = await listMatching(work.db, work.brandId, { email, igHandle, ttHandle });
  if (owners.length > 1) throw await conflict(work, application, owners);
  const [owner] = owners;
  // Known only by a handle so far: accepting confirms that the address is theirs.
  if (owner && owner.email === null) await changeCreator(work, owner, { email });
  return await ensureCreator(work, { email, name, igHandle, ttHandle });
}
