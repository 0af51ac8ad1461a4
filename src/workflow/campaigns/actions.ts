import type { Work } from '../../kit/operation/work.ts';
import {
  type Compensation,
  compensationLabel,
  compensationOf,
  storedCompensation,
} from '../../kit/values/compensation.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { given, patched } from '../../kit/values/patch.ts';
import { toWire } from '../../kit/values/wire.ts';
import { getBrandCurrency } from '../../platform/brands/queries.ts';
import { type CampaignRow, hasCampaign, insertCampaign, lockCampaign, updateCampaign } from './queries.ts';
import { type CampaignCreate, type CampaignPatch, CampaignSaved, compensationProblem } from './schema.ts';

const UNKNOWN: Compensation = { type: '', amount: null, currency: null };

const announced = (row: CampaignRow) =>
  CampaignSaved.parse({ ...toWire(row), compensation_label: compensationLabel(row) });

/** Whether a patch changed anything but the time of the last change. */
const differs = (old: CampaignRow, row: CampaignRow) =>
  JSON.stringify({ ...old, updatedAt: null }) !== JSON.stringify({ ...row, updatedAt: null });

export async function createCampaign(work: Work, input: CampaignCreate): Promise<CampaignRow> {
  const { db, now, brandId } = work;
  const { compensation, requirements } = input;
  const currency = await getBrandCurrency(db, brandId);
  const stored = compensation ? payable(patched(UNKNOWN, compensation), currency) : null;
  const row = await insertCampaign(db, {
    id: newId('cmp', now.getTime()),
    brandId,
    title: input.name,
    status: input.status,
    campaignType: input.type ?? null,
    description: input.description ?? null,
    ...storedCompensation(stored, currency),
    platforms: requirements?.platforms ?? null,
    minFollowers: requirements?.min_followers ?? null,
    contentTypes: requirements?.content_types ?? null,
    deliverablesCount: requirements?.deliverables_count ?? null,
    deadline: input.deadline ?? null,
    createdAt: now,
    updatedAt: null,
  });
  work.audit({ resourceId: row.id, old: null, new: row });
  work.emit('campaign.created', announced(row));
  return row;
}

/** Validates the compensation as a whole, in the currency in which it will be stored. */
export function payable(compensation: Compensation, brandCurrency: string): Compensation {
  const problem = compensationProblem(compensation, brandCurrency);
  if (!problem) return compensation;
  const message = `${problem}; got ${compensation.amount}.`;
  throw validationError([{ field: 'compensation.amount', code: 'invalid', message }]);
}

/** The compensation after a patch. Validated as a whole, because an amount may fit one currency and not another. */
function patchedCompensation(old: CampaignRow, patch: NonNullable<CampaignPatch['compensation']>): Compensation {
  const compensation = patched(compensationOf(old) ?? UNKNOWN, patch);
  if (compensation.type !== '') return compensation;
  const message = 'is required: the campaign has no compensation yet.';
  throw validationError([{ field: 'compensation.type', code: 'required', message }]);
}

function compensationColumns(old: CampaignRow, patch: CampaignPatch['compensation'], brandCurrency: string) {
  if (patch === undefined) return {};
  if (patch === null) return storedCompensation(null, brandCurrency);
  return storedCompensation(payable(patchedCompensation(old, patch), brandCurrency), brandCurrency);
}

function requirementColumns(patch: CampaignPatch['requirements']) {
  if (patch === undefined) return {};
  if (patch === null) return { platforms: null, minFollowers: null, contentTypes: null, deliverablesCount: null };
  const { platforms, min_followers, content_types, deliverables_count } = patch;
  return given({
    platforms,
    minFollowers: min_followers,
    contentTypes: content_types,
    deliverablesCount: deliverables_count,
  });
}

/** Sets only the columns that the patch names, on a locked row. */
export async function patchCampaign(work: Work, id: string, patch: CampaignPatch): Promise<CampaignRow> {
  const { db, now, brandId } = work;
  const old = await lockCampaign(db, brandId, id);
  const { name, type, description, deadline, status, compensation, requirements } = patch;
  const row = await updateCampaign(db, brandId, id, {
    ...given({ title: name, campaignType: type, description, deadline, status }),
    ...compensationColumns(old, compensation, await getBrandCurrency(db, brandId)),
    ...requirementColumns(requirements),
    updatedAt: now,
  });
  work.audit({ resourceId: id, old, new: row });
  if (differs(old, row)) work.emit('campaign.updated', announced(row));
  return row;
}

/** Checks that a body's `campaign_id`, if any, is one of the brand's campaigns. */
export async function campaignProblems(
  { db, brandId }: Pick<Work, 'db' | 'brandId'>,
  id: string | null | undefined,
): Promise<Problem[]> {
  if (id === null || id === undefined || (await hasCampaign(db, brandId, id))) return [];
  return [{ field: 'campaign_id', code: 'not_found', message: 'is not a campaign of this brand.' }];
}
