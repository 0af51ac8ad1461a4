import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { get, patch, read, remove } from '../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../kit/operation/list.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { noun } from '../../kit/operation/noun.ts';
import { nothing } from '../../kit/operation/operation.ts';
import { upload } from '../../kit/operation/upload.ts';
import { idField } from '../../kit/values/fields.ts';
import { toWire } from '../../kit/values/wire.ts';
import { announceEndingRights, removeFiles, thumbnailWork } from './assets.jobs.ts';
import { assetMails } from './assets.mails.ts';
import {
  Asset,
  AssetFilter,
  AssetList,
  AssetPatch,
  AssetRights,
  AssetsSaved,
  AssetUpload,
  RightsQuery,
} from './assets.shapes.ts';
import { type AssetRow, assets, deleteAsset, getAsset, patchAssets, uploadAsset } from './assets.ts';
import { signFileUrl } from './files.ts';
import { folderOperations } from './folders.api.ts';
import { mayUse } from './rights.ts';
import { receiveFile, releaseFile } from './uploads.ts';

const tag = 'Assets';

type SigningContext = Pick<Context, 'config' | 'secrets' | 'clock'>;

/** An asset as the API returns it, with signed addresses of its files. */
function toAsset(row: AssetRow, context: SigningContext): Asset {
  const { id: assetId, sha256, thumbnailKey } = row;
  return Asset.parse({
    ...toWire(row),
    sha256: sha256.toString('hex'),
    url: signFileUrl(context, { assetId, form: 'original' }),
    thumbnail_url: thumbnailKey === null ? null : signFileUrl(context, { assetId, form: 'thumbnail' }),
  });
}

const assetOperations = [
  read({
    id: 'list_assets',
    path: '/v1/assets',
    tag,
    summary: 'List files',
    description: 'Newest first.',
    forAgents: { example: { creator_email: 'ana@example.com' } },
    query: AssetFilter,
    response: AssetList,
    ...answersWhere(
      assets,
      ({ clock }, { query }: ListCall<AssetFilter>) => ({ ...query, now: clock.now() }),
      Asset,
      toAsset,
    ),
  }),
  upload({
    id: 'upload_asset',
    method: 'POST',
    path: '/v1/assets',
    tag,
    summary: 'Upload a file',
    description:
      'Send multipart/form-data with the file as `file`. The type is recognized by the content; a file whose content does ' +
      'not match its name is 422. An Idempotency-Key compares the fields and the SHA-256 of the bytes.',
    callers: ['brand'],
    params: nothing,
    query: nothing,
    body: AssetUpload,
    response: z.object({ data: Asset }),
    status: 201,
    hints: { readOnly: false, idempotent: false, destructive: false },
    receive: receiveFile,
    release: releaseFile,
    apply: (work, { body }, file) => uploadAsset(work, file, body),
    answer: (context, row) => ({ data: toAsset(row, context) }),
  }),
  patch({
    id: 'update_assets',
    path: '/v1/assets',
    tag,
    summary: 'Change one asset or up to 100: name, folder, tags, rights',
    description: 'Only the fields that you send change; null clears one. Either all selected assets change, or none.',
    forAgents: {
      description: 'Either all selected assets change, or none.',
      example: { ids: ['ast_…'], tags: ['summer'] },
    },
    body: AssetPatch,
    item: AssetsSaved,
    sealsAnswer: true,
    errors: ['INVALID_SELECTION'],
    lookUp: async (context) => context,
    apply: async (work, { body }, signing: SigningContext) => {
      const assets = (await patchAssets(work, body)).map((row) => toAsset(row, signing));
      return { updated_count: assets.length, assets };
    },
  }),
  get({
    id: 'get_asset',
    path: '/v1/assets/{id}',
    tag,
    summary: 'Get a file',
    description: 'With fresh signed addresses of the file and its thumbnail.',
    item: Asset,
    find: async (context, { caller, params }) =>
      toAsset(await getAsset(context.postgres.db, caller.brandId, params.id), context),
  }),
  get({
    id: 'get_asset_rights',
    path: '/v1/assets/{id}/rights',
    tag,
    summary: 'Check whether a file may be used',
    description: 'Decided by the terms of its contract, or by rights that were set on the asset.',
    forAgents: { example: { id: 'ast_…', channel: 'paid_social' } },
    query: RightsQuery,
    item: AssetRights,
    find: async ({ postgres, clock }, { caller, params, query }) => {
      const row = await getAsset(postgres.db, caller.brandId, params.id);
      const timeZone = await getTimeZone(postgres.db, caller.brandId);
      return toWire(mayUse(row, { on: query.on ?? clock.now(), channel: query.channel, timeZone }));
    },
  }),
  remove({
    id: 'delete_asset',
    path: '/v1/assets/{id}',
    tag,
    summary: 'Delete a file',
    description: 'Its addresses stop working immediately.',
    item: z.object({
      id: idField('ast', 'Id of the deleted asset.'),
      deleted: z.literal(true).describe('Always true: the file is deleted.'),
    }),
    errors: ['NOT_FOUND'],
    apply: async (work, { params }) => {
      await deleteAsset(work, params.id);
      return { id: params.id, deleted: true as const };
    },
  }),
] as const;

export const assetsNoun = noun({
  name: 'assets',
  tag: {
    name: 'Assets',
    about: 'Files with folders, tags and usage rights.',
  },
  ids: { assets: 'ast', folders: 'fld' },
  operations: [...folderOperations, ...assetOperations],
  jobs: [removeFiles, announceEndingRights],
  work: [thumbnailWork],
  mails: assetMails,
});
