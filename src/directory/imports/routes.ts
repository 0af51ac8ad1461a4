import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { get, read } from '../../kit/operation/kit.ts';
import { notFound } from '../../kit/values/errors.ts';
import { PageQuery, toPage, toPagination } from '../../kit/values/page.ts';
import { findImportIn, importOf, importWithReport, listImports } from './queries.ts';
import { DirectoryImportList, DirectoryImportReport } from './schema.ts';

const tag = 'Directory';

/** The directory belongs to the operator, who decides whether brands see how it is filled. */
function assertShown({ config }: Context): void {
  if (!config.directoryReports) throw notFound('page: the operator does not show imports of the directory');
}

export const directoryImportOperations = [
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
      return { data: rows.map(importOf), pagination: toPagination(page, total) };
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
      const row = await findImportIn(context.postgres.db, context.config.directoryAlias, id);
      if (!row) throw notFound('import');
      return importWithReport(row);
    },
  }),
] as const;
