import { z } from 'zod';
import { clampedParameter, timestamp } from '../../kit/values/page.ts';
import { besideOthers } from '../../kit/values/problems.ts';
import { CREATOR_FIELDS } from '../imports/indexing/fields.ts';
import { CHANGE_TYPES } from './changes.ts';

const MOST = 1_000;

const CURSOR = /^(\d{1,15})\.(\d{1,10})$/;
export type Position = [seq: number, line: number];
/** After every change of a batch. */
export const END_OF_BATCH = 4_294_967_295;

export function readCursor(after: string): Position {
  const [, seq, line] = CURSOR.exec(after) ?? [];
  return [Number(seq), Math.min(Number(line), END_OF_BATCH)];
}

const listOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z
    .string()
    .max(1_000)
    .transform((value) => value.split(',').map((one) => one.trim()))
    .pipe(z.array(z.enum(names)).min(1))
    .optional();

const [FIRST, ...REST] = CREATOR_FIELDS;

export const ChangeFilter = z
  .object({
    since: z
      .string()
      .max(200)
      .optional()
      .describe(
        'Where to start: a time, or a version from `X-Directory-Version` for everything after its import. Without it and `after`, the feed starts 90 days ago.',
      ),
    after: z
      .string()
      .regex(CURSOR, 'must be the `next_after` of an earlier answer')
      .optional()
      .describe('Cursor of the feed, `next_after` of the previous answer: only later changes are returned.'),
    type: listOf(CHANGE_TYPES).describe(`Types of change, separated by commas: any of ${CHANGE_TYPES.join(', ')}.`),
    fields: listOf([FIRST ?? 'pk', ...REST]).describe(
      'Fields of creators, separated by commas. Updates of other fields are left out.',
    ),
    limit: clampedParameter(MOST)
      .default(MOST)
      .describe('Most changes in one answer; larger values are clamped to 1,000.'),
  })
  .superRefine(({ since, after }, context) => {
    if (since === undefined || after === undefined) return;
    const message = 'must not be combined with since: the cursor says where to continue';
    context.addIssue({ code: 'custom', path: ['after'], params: { code: 'contradiction' }, message, input: after });
  }, besideOthers);
export type ChangeFilter = z.output<typeof ChangeFilter>;

const DirectoryChange = z
  .object({
    pk: z.number().int().describe('Key of the creator that changed.').meta({ example: 173560420 }),
    type: z
      .enum(CHANGE_TYPES)
      .describe('What happened. `opted_out`: the creator was removed for good at their request.')
      .meta({ example: 'updated' }),
    at: timestamp.describe('When searches began to see the change.').meta({ example: '2026-11-20T06:00:00.000Z' }),
    changed: z
      .array(z.string())
      .describe('Fields that an update changed; empty for the other types.')
      .meta({ example: ['follower_count', 'biography'] }),
    directory_version: z
      .string()
      .describe('Directory version in which the change was made.')
      .meta({ example: 'creators-20261120-3f9a0c2e' }),
  })
  .meta({ id: 'DirectoryChange' });
export type DirectoryChange = z.infer<typeof DirectoryChange>;

export const ChangeFeed = z
  .object({
    data: z.array(DirectoryChange).describe('Changes in the order in which searches began to see them.'),
    has_more: z.boolean().describe('Whether more changes are ready.').meta({ example: false }),
    next_after: z
      .string()
      .describe('Position in the feed: send it as `after` in the next call.')
      .meta({ example: '1842.4294967295' }),
  })
  .meta({ id: 'DirectoryChangeFeed' });
