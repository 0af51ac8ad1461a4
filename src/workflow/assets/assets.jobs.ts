import { Readable } from 'node:stream';
import { openQueue, openWorker, type RunOptions } from '../../kit/engines/redis/queue.ts';
import { createThumbnail } from '../../kit/engines/thumbnail.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job, QueuedWork } from '../../kit/operation/job.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { inWork } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import {
  claimThumbnail,
  listEndingRights,
  listToPurge,
  listWithoutThumbnail,
  markNotified,
  markPurged,
  updateThumbnail,
} from './assets.ts';
import { toThumbnailKey } from './files.ts';
import { noticeDueAt } from './rights.ts';
import { listAbandonedUploads, releaseFile } from './uploads.ts';

const THUMBNAILS = 'asset-thumbnails';
const AT_ONCE = 100;
const MAX_ATTEMPTS = 5;
/** Longer than any attempt takes. */
const RETRY_AFTER_MS = 120_000;
/** Longer than any upload: a request may take five minutes. */
const ABANDONED_AFTER_MS = 3_600_000;

const FAILED = { thumbnailKey: null, thumbnailState: 'failed', width: null, height: null } as const;

/** Makes one picture's thumbnail. A second run finds that it exists, and does nothing. */
export async function makeThumbnail(context: Context, id: string): Promise<void> {
  const { postgres, files, clock, log } = context;
  const now = clock.now();
  const picture = await claimThumbnail(postgres.db, id, now, new Date(now.getTime() + RETRY_AFTER_MS));
  if (!picture) return;
  const { storageKey, thumbnailAttempts } = picture;
  if (thumbnailAttempts > MAX_ATTEMPTS) return await updateThumbnail(postgres.db, id, FAILED);
  try {
    const { webp, width, height } = await createThumbnail(await files.read(storageKey));
    const thumbnailKey = toThumbnailKey(storageKey);
    await files.write(thumbnailKey, Readable.from([webp]), 'image/webp');
    await updateThumbnail(postgres.db, id, { thumbnailKey, thumbnailState: 'made', width, height });
  } catch (error) {
    // The storage may be back for the next attempt; a picture that cannot be read will not change.
    if (error instanceof ApiError) throw error;
    log.info({ err: error, asset: id }, 'this picture cannot have a thumbnail');
    await updateThumbnail(postgres.db, id, FAILED);
  }
}

export interface Thumbnails {
  /** Creates a job for every picture whose thumbnail is due. Rows are the truth; the queue may be lost. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export function startThumbnails(context: Context, redisUrl: string, options: RunOptions = {}): Thumbnails {
  const queue = openQueue(redisUrl, THUMBNAILS, options);
  const worker = openWorker(redisUrl, THUMBNAILS, (id) => makeThumbnail(context, id), {
    ...options,
    lostAfterMs: context.config.workerLostAfterMs,
    onError: (error) => context.failures.failed('making a thumbnail', error),
  });
  return {
    sweep: async () => {
      const assetIds = await listWithoutThumbnail(context.postgres.db, context.clock.now(), AT_ONCE);
      for (const id of assetIds) await queue.add(id);
    },
    close: async () => void (await Promise.all([worker.close(), queue.close()])),
  };
}

/** Makes each picture's thumbnail. */
export const thumbnailWork: QueuedWork = {
  queue: THUMBNAILS,
  sweep: { name: 'sweep-thumbnails', everyMs: 1_000, asksFor: 'pictures without a thumbnail', leaves: true },
  start: startThumbnails,
};

/** Removes the files of deleted assets. */
export async function purgeDeleted({ postgres, files, clock }: Context): Promise<void> {
  for (const { id, storageKey } of await listToPurge(postgres.db, AT_ONCE)) {
    await files.remove(storageKey);
    // Includes one that a job was making when the asset was deleted.
    await files.remove(toThumbnailKey(storageKey));
    await markPurged(postgres.db, id, clock.now());
  }
}

/** Removes the files of uploads whose process died before the asset was created. */
export async function giveUpUploads(context: Context): Promise<void> {
  const before = new Date(context.clock.now().getTime() - ABANDONED_AFTER_MS);
  for (const storageKey of await listAbandonedUploads(context.postgres.db, before, AT_ONCE)) {
    await releaseFile(context, { storageKey });
  }
}

export const removeFiles: Job = {
  name: 'remove-files',
  everyMs: 10_000,
  asksFor: 'files of deleted assets and of unfinished uploads',
  leaves: true,
  run: async (context) => {
    await purgeDeleted(context);
    await giveUpUploads(context);
  },
};

const NOTICES_AT_ONCE = 100;

type Ending = Awaited<ReturnType<typeof listEndingRights>>[number];

async function reportEnd({ postgres, clock }: Context, { rightsExpiresAt, ...asset }: Ending): Promise<void> {
  const days = rightsExpiresAt && noticeDueAt(rightsExpiresAt, clock.now());
  if (rightsExpiresAt === null || days == null) return;
  const { id, brandId, name, contactEmail, rightsNoticeDays: before } = asset;
  const actor = { brandId, keyId: null, operation: 'mark_ending_rights', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    if (!(await markNotified(work.db, { id, rightsExpiresAt, before }, days))) return;
    work.audit({ resourceId: id, old: { rightsNoticeDays: before }, new: { rightsNoticeDays: days } });
    if (contactEmail === null) return;
    const ends_on = dayIn(await getTimeZone(work.db, brandId), rightsExpiresAt);
    const params = { asset_id: id, name, ends_on, has_ended: days === 0 };
    await queueMail(work, {
      kind: 'asset_rights_ending',
      to: contactEmail,
      subjectRow: `${id}:${days}:${ends_on}`,
      params,
    });
  });
}

/**
 * Notifies brands 14 and 3 days before an asset's rights end and when they have ended, in the audit log and by mail.
 */
export async function markExpiringRights(context: Context): Promise<void> {
  for (;;) {
    const endingAssets = await listEndingRights(context.postgres.db, context.clock.now(), NOTICES_AT_ONCE);
    for (const asset of endingAssets) await reportEnd(context, asset);
    if (endingAssets.length < NOTICES_AT_ONCE) return;
  }
}

export const announceEndingRights: Job = {
  name: 'announce-ending-rights',
  everyMs: 10_000,
  asksFor: 'assets whose rights end in 14 days, in 3 days or have ended',
  run: markExpiringRights,
};
