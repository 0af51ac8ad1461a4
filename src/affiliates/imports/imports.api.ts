import { z } from 'zod';
import type { Caller } from '../../kit/access/keys/callers.ts';
import { roleRequired } from '../../kit/access/keys/identify.ts';
import type { Context } from '../../kit/operation/context.ts';
import { act, get, list, patch, read, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { nothing } from '../../kit/operation/operation.ts';
import { upload } from '../../kit/operation/upload.ts';
import { integerParameter, listSchema, toPage, toPagination } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import type { Refusal } from '../../platform/imports/reading/shapes.ts';
import { registerKind } from '../../platform/jobs/jobs.ts';
import { releaseFile } from '../../workflow/assets/uploads.ts';
import { assertMapping, MAX_FILE_BYTES, receiveSent, receiveText, type SentFile } from './files.ts';
import { expireImports, importKind } from './imports.jobs.ts';
import {
  Import,
  ImportConfirm,
  ImportCreate,
  ImportFilter,
  ImportLine,
  ImportPatch,
  LineFilter,
  StoredMapping,
} from './imports.shapes.ts';
import {
  confirmImport,
  createImport,
  findUndoObstacle,
  imports,
  type ListedImport,
  patchImport,
  removeImport,
  type StoredReading,
  UNDO_MS,
  undoImport,
} from './imports.ts';
import { eachLine, listLines, listRefused } from './lines.ts';
import { mappings } from './mappings.ts';
import { countStaying } from './staying.ts';
import { maskRecord, toShownFault } from './tallies.ts';
import { waitForImport } from './wait.ts';

const tag = 'Imports';
const one = { path: '/v1/imports/{id}', tag, item: Import } as const;

function toUndo(row: ListedImport, now: Date, stays: number | null) {
  const why = findUndoObstacle(row, now);
  const until = row.endedAt === null ? null : new Date(row.endedAt.getTime() + UNDO_MS).toISOString();
  return { possible: why === null, until: why === null ? until : null, removes: row.writes, stays, why };
}

const NOTHING_READ: Pick<
  Import,
  'format' | 'text' | 'columns' | 'readings' | 'statuses' | 'counts' | 'sums' | 'warnings' | 'sample'
> & { refusals: Refusal[]; questions: StoredReading['questions'] } = {
  format: null,
  text: null,
  columns: [],
  readings: null,
  statuses: [],
  questions: [],
  counts: null,
  sums: [],
  refusals: [],
  warnings: [],
  sample: [],
};

/** The import as the API shows it. While it is read again, nothing of the earlier reading is shown. */
function toImport(row: ListedImport, { clock }: Pick<Context, 'clock'>, stays: number | null = null): Import {
  const { reading, sha256, fileName, sizeBytes, mapping, options, keyId, sameAs } = row;
  const shownReading = row.status === 'reading' || reading === null ? NOTHING_READ : reading;
  return {
    ...toWire(row),
    ...shownReading,
    questions: shownReading.questions.map(({ options: all, ...question }) => ({
      ...question,
      options: all.map(({ sample = [], ...option }) => ({
        ...option,
        sample: sample.map((line) => ({ ...line, record: maskRecord(line.record) })),
      })),
    })),
    refusals: shownReading.refusals.map(({ fault, ...refusal }) => ({ ...refusal, ...toShownFault(fault) })),
    sample: shownReading.sample.map((line) => ({ cells: [], ...line, record: maskRecord(line.record) })),
    status: row.status,
    file: { name: fileName, size_bytes: sizeBytes, sha256: sha256.toString('hex'), same_as: sameAs },
    mapping: { ...mapping },
    options,
    reading_id: row.readingId,
    undo: toUndo(row, clock.now(), stays),
    by: keyId,
  };
}

/** Only owners decide where creators are paid, as in the payment profile. */
async function assertMayRecord(
  { postgres }: Context,
  { caller, params }: { caller: Caller; params: { id: string } },
): Promise<void> {
  if (caller.kind !== 'session' || caller.person.role === 'owner') return;
  const { of } = await imports.get(postgres.db, caller.brandId, params.id);
  if (of === 'payment_details') throw roleRequired(caller.person, ['owner']);
}

const importOperations = [
  list({
    id: 'list_imports',
    path: '/v1/imports',
    tag,
    summary: 'List imports',
    description: 'Files that were sent, newest first.',
    forAgents: { example: { of: 'commissions' } },
    query: ImportFilter,
    item: Import,
    rows: imports,
    itemOf: toImport,
  }),
  upload({
    id: 'create_import',
    method: 'POST',
    path: '/v1/imports',
    tag,
    summary: 'Send a file from another tool',
    description:
      'A worker reads the file, up to 200 MB, and says what would be recorded; nothing is written before its confirmation. ' +
      'Send CSV, TSV, `.xlsx`, or one of them in `.gz` or `.zip` as `file` in multipart/form-data, or JSON with its `text`.',
    forAgents: {
      description:
        'Reads the text of a CSV file and says what would be recorded. Nothing is written before confirm_import.',
      example: { of: 'commissions', text: 'email,amount,currency,date\nana@example.com,12.50,USD,2026-03-02' },
    },
    callers: ['brand'],
    params: nothing,
    query: nothing,
    body: ImportCreate,
    response: z.object({ data: Import }),
    status: 202,
    errors: ['CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    hints: { readOnly: false, idempotent: false, destructive: false },
    maxFileBytes: MAX_FILE_BYTES,
    receive: receiveSent,
    release: releaseFile,
    withoutFile: (context, { caller, body }) => receiveText(context, caller.brandId, body.text),
    apply: async (work, { body, caller }, { context, ...file }: SentFile) => {
      await assertMapping(
        context,
        { ...file, fileName: file.name, of: body.of, encoding: undefined },
        body.mapping ?? {},
      );
      return await createImport(work, body, file, caller.keyId);
    },
    answer: (context, row) => ({ data: toImport(row, context) }),
  }),
  get({
    ...one,
    id: 'get_import',
    summary: 'Get an import',
    description: 'How the file is read, what would be recorded, what must be answered, and what was recorded.',
    forAgents: { description: 'How the file is read, what would be recorded, and which questions are open.' },
    query: z.object({
      wait: integerParameter({ min: 0, max: 30 })
        .default(0)
        .describe('Seconds to wait while it is `reading`, `running` or `undoing`.'),
    }),
    find: async (context, { caller, params, query }) => {
      const row = await waitForImport(context, caller.brandId, params.id, query.wait);
      const isUndoable = findUndoObstacle(row, context.clock.now()) === null;
      return toImport(row, context, isUndoable ? await countStaying(context.postgres.db, row) : null);
    },
  }),
  patch({
    ...one,
    id: 'update_import',
    summary: 'Answer questions about a file',
    description:
      'Changes the mapping or the options, and reads the file again. A field, column, sheet or encoding that is not there ' +
      'is refused, and changes nothing.',
    forAgents: { example: { id: 'imp_…', mapping: { dates: 'dmy' } } },
    body: ImportPatch,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    lookUp: async (context) => context,
    apply: async (work, { params, body }, context) =>
      toImport(await patchImport(work, context, params.id, body), context),
  }),
  act({
    ...one,
    path: '/v1/imports/{id}/confirm',
    id: 'confirm_import',
    status: 202,
    summary: 'Record what was read',
    description:
      'Confirms exactly the reading that was seen. A worker records it, or compares a `reconciliation` with our orders.',
    forAgents: { example: { id: 'imp_…', reading_id: 'rdg_…', mode: 'plan' } },
    body: ImportConfirm,
    errors: [
      'NOT_FOUND',
      'CONFLICT',
      'READING_OUTDATED',
      'QUESTIONS_OPEN',
      'INVALID_STATE_TRANSITION',
      'CREATOR_LIMIT_REACHED',
    ],
    hints: { planned: true },
    weighs: { pays: { column: 'of', value: 'payouts' } },
    lookUp: async (context, call) => {
      await assertMayRecord(context, call);
      return context;
    },
    apply: async (work, { params, body }, context) =>
      toImport(await confirmImport(work, params.id, body.reading_id), context),
  }),
  act({
    ...one,
    path: '/v1/imports/{id}/undo',
    id: 'undo_import',
    status: 202,
    summary: 'Take back what was recorded',
    description:
      'For 30 days. What something else changed or refers to since stays. Payments and orders that paid creators stay.',
    forAgents: { isListed: false, example: { id: 'imp_…', mode: 'plan' } },
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { destructive: true, planned: true },
    lookUp: async (context, call) => {
      await assertMayRecord(context, call);
      return context;
    },
    apply: async (work, { params }, context) => toImport(await undoImport(work, params.id), context),
  }),
  remove({
    ...one,
    id: 'delete_import',
    summary: 'Discard or stop an import',
    forAgents: { isListed: false },
    description: 'An unconfirmed one is discarded. A running one stops, and keeps what it recorded.',
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    lookUp: async (context) => context,
    apply: async (work, { params }, context) => toImport(await removeImport(work, params.id), context),
  }),
  read({
    id: 'list_import_lines',
    path: '/v1/imports/{id}/lines',
    tag,
    summary: 'List the lines of an import',
    description:
      'In the order of the file, up to 10,000 of each outcome. With `outcome=refused`, `Accept: text/csv` returns the ' +
      'original cells with the line and the reason, to correct and send again; `profile=mend` returns them whatever the query.',
    forAgents: { description: 'In the order of the file, up to 10,000 of each outcome.' },
    query: LineFilter,
    response: listSchema(ImportLine),
    errors: ['NOT_FOUND'],
    handler: async ({ postgres }, { caller, params, query }) => {
      const row = await imports.get(postgres.db, caller.brandId, params.id);
      const page = toPage(query);
      const { rows, total } = await listLines(postgres.db, row, query, page);
      return { data: rows, pagination: toPagination(page, total) };
    },
    csv: {
      item: ImportLine,
      rows: async ({ postgres }, { caller, params, query }) =>
        eachLine(postgres.db, await imports.get(postgres.db, caller.brandId, params.id), query),
      profiles: {
        mend: async ({ postgres }, { caller, params }) =>
          await listRefused(postgres.db, await imports.get(postgres.db, caller.brandId, params.id)),
      },
      table: async ({ postgres }, { caller, params, query: { outcome, kind } }) =>
        outcome === 'refused'
          ? await listRefused(postgres.db, await imports.get(postgres.db, caller.brandId, params.id), kind)
          : undefined,
    },
  }),
] as const;

const mappingOperations = [
  list({
    id: 'list_import_mappings',
    path: '/v1/imports/mappings',
    tag,
    summary: 'List stored mappings',
    description: 'What confirmed imports stored about files of a source. The next file with the same header uses it.',
    forAgents: {
      description:
        'What confirmed imports said about files of a source, which the next one with the same columns uses.',
      isListed: false,
    },
    item: StoredMapping,
    rows: mappings,
    itemOf: (row) => ({ ...toWire(row), mapping: { ...row.mapping } }),
  }),
  remove({
    id: 'delete_import_mapping',
    path: '/v1/imports/mappings/{id}',
    tag,
    summary: 'Delete a stored mapping',
    description: 'The next file of its source is read without it.',
    forAgents: { isListed: false },
    item: StoredMapping,
    errors: ['NOT_FOUND'],
    apply: async ({ db, brandId, audit }, { params: { id } }) => {
      const row = await mappings.get(db, brandId, id);
      await db.deleteFrom('importMappings').where('brandId', '=', brandId).where('id', '=', id).execute();
      audit({ resourceId: id, old: row, new: null });
      return { ...toWire(row), mapping: { ...row.mapping } };
    },
  }),
] as const;

registerKind('import', importKind);

export const importsNoun = noun({
  name: 'imports',
  tag: { name: 'Imports', about: 'Files from other tools, read and recorded once.' },
  ids: { imports: 'imp', mappings: 'imm' },
  operations: [...mappingOperations, ...importOperations],
  jobs: [expireImports],
});
