import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { get, read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { notFound } from '../../kit/values/errors.ts';
import { idField } from '../../kit/values/fields.ts';
import { listSchema, PageQuery, timestamp, toPage, toPagination } from '../../kit/values/page.ts';
import { findImportUnderAlias, importWithReport, listImports, toImport } from './imports.ts';

const id = idField('imp', 'Import id.');
const count = z.number().int().nullable();
const share = (meaning: string) => z.number().describe(`${meaning}: 0 to 1.`);

export const DirectoryImport = z
  .object({
    id,
    state: z
      .enum(['queued', 'building', 'verified', 'held', 'live', 'superseded', 'rolled_back', 'discarded', 'failed'])
      .describe('State of the import. `held`: searches use the previous directory until an operator decides.'),
    started_at: timestamp.describe('When the import started.'),
    live_at: timestamp.nullable().describe('When its directory went live; null if it never did.'),
    files: z
      .array(z.string())
      .describe('Names of the imported files.')
      .meta({ example: ['supplier.ndjson.gz'] }),
    creators: count.describe('Creators in its directory; null until they are counted.'),
    rejected_rows: z.number().int().describe('Rows that were refused because they are invalid.'),
    added: count.describe('Creators that the live directory lacked; null without a comparison.'),
    removed: count.describe('Creators of the live directory that it lacks; null without a comparison.'),
    changed: count.describe('Creators with other values than in the live directory; null without a comparison.'),
    reasons: z.array(z.string()).describe('Why the import was held, a sentence each.'),
  })
  .meta({ id: 'DirectoryImport' });

const BeforeAndAfter = { before: share('Share in the previous directory'), after: share('Share in its directory') };

const Report = z.object({
  creators_before: z.number().int().describe('Creators in the directory that it was compared with.'),
  unchanged: z.number().int().describe('Creators whose values are the same in both.'),
  is_estimated: z.boolean().describe('Whether the counts by field come from a sample of the changed creators.'),
  changed_fields: z
    .array(
      z.object({
        field: z.string().describe('A field that changed.'),
        creators: z.number().int().describe('Creators that changed in this field.'),
      }),
    )
    .describe('Changes by field, most first.'),
  fill: z
    .array(z.object({ field: z.string().describe('A field of creators.'), ...BeforeAndAfter }))
    .describe('By field, how many of the rows have a value.'),
  top_values: z
    .array(
      z.object({
        field: z.string().describe('`category`, `country` or `state`.'),
        value: z.string().describe('A frequent value of the field.'),
        ...BeforeAndAfter,
      }),
    )
    .describe('Frequent values, by how far their share moved.'),
  in_metro: z.object(BeforeAndAfter).describe('Creators that live in a metro.'),
  percentiles: z
    .array(
      z.object({
        field: z.string().describe('`follower_count` or `engagement_rate`.'),
        percentile: z.number().describe('Percent of creators that have at most the value.'),
        before: z.number().nullable().describe('Value in the previous directory; null if none has one.'),
        after: z.number().nullable().describe('Value in its directory; null if none has one.'),
      }),
    )
    .describe('Spread of followers and engagement.'),
});

const Bounds = z.object({
  max_shrink: z.number().describe('Percent of the live creators that may be missing.'),
  max_fill_drop: z.number().describe('Points by which a field may be filled less.'),
  max_drift: z.number().describe('Points by which the share of a frequent value may move.'),
  mode: z.enum(['check', 'hold', 'force']).describe('`hold`: held in any case; `force`: only canaries hold it.'),
  canaries: z
    .array(
      z.object({
        query: z.record(z.string(), z.unknown()).describe('Parameters of the search.'),
        min_total: z.number().int().describe('The fewest creators that it must find.'),
        must_contain: z.number().int().describe('Number of creators that it must find by pk.'),
      }),
    )
    .describe('Searches that must keep finding what they find now.'),
});

export const DirectoryImportReport = DirectoryImport.extend({
  report: Report.nullable().describe('How it differs from the previous directory; null for a first import.'),
  bounds: Bounds.nullable().describe('How far it may differ before it is held; null if it was not recorded.'),
}).meta({ id: 'DirectoryImportReport' });
export type DirectoryImportReport = z.infer<typeof DirectoryImportReport>;

const DirectoryImportList = listSchema(DirectoryImport).meta({ id: 'DirectoryImportList' });

const tag = 'Directory';

/** The directory belongs to the operator, who decides whether brands see how it is filled. */
function assertShown({ config }: Context): void {
  if (!config.directoryReports) throw notFound('page: the operator does not show imports of the directory');
}

const directoryImportOperations = [
  read({
    id: 'list_directory_imports',
    path: '/v1/directory-imports',
    tag,
    summary: 'Imports of the directory',
    description: 'Newest first. For owners, where the operator allows it (`DIRECTORY_REPORTS`).',
    callers: ['session'],
    ownersOnly: true,
    query: z.object(PageQuery),
    response: DirectoryImportList,
    errors: ['NOT_FOUND'],
    handler: async (context, { query }) => {
      assertShown(context);
      const page = toPage(query);
      const { rows, total } = await listImports(context.postgres.db, context.config.directoryAlias, page);
      return { data: rows.map(toImport), pagination: toPagination(page, total) };
    },
  }),
  get({
    id: 'get_directory_import',
    path: '/v1/directory-imports/{id}',
    tag,
    summary: 'One import of the directory with its report',
    description: 'What it adds, removes and changes, and how far it differs from the previous directory.',
    callers: ['session'],
    ownersOnly: true,
    item: DirectoryImportReport,
    find: async (context, { params: { id } }) => {
      assertShown(context);
      const row = await findImportUnderAlias(context.postgres.db, context.config.directoryAlias, id);
      if (!row) throw notFound('import');
      return importWithReport(row);
    },
  }),
] as const;

export const directoryImports = noun({
  name: 'directory-imports',
  operations: directoryImportOperations,
});
