import path from 'node:path';
import type { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Page } from '../../kit/values/page.ts';
import type { DirectoryImport, DirectoryImportReport } from './imports.api.ts';
import { Bounds } from './indexing/bounds.ts';
import { Comparison } from './indexing/comparison.ts';
import { OWN_EMAILS } from './indexing/identity.ts';
import type { DirectoryImport as ImportRow } from './indexing/records.ts';

/** Imports into the directory that all brands share, newest first. */
export async function listImports(db: Db, alias: string, { limit, offset }: Page) {
  const of = db.selectFrom('directoryImports').where('alias', '=', alias);
  const [rows, { total }] = await Promise.all([
    of.selectAll().orderBy('startedAt', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute(),
    of.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { rows, total: Number(total) };
}

export async function findImportUnderAlias(db: Db, alias: string, id: string): Promise<ImportRow | undefined> {
  return await db
    .selectFrom('directoryImports')
    .selectAll()
    .where('alias', '=', alias)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Only the name: a path, bucket or address is the operator's own. */
const toFileName = (file: string) => path.posix.basename(file.split('?', 1)[0] ?? '');

const parseComparison = ({ comparison }: ImportRow) => Comparison.nullish().parse(comparison) ?? undefined;

export function toImport(row: ImportRow): z.input<typeof DirectoryImport> {
  const comparison = parseComparison(row);
  return {
    id: row.id,
    state: row.state,
    started_at: row.startedAt.toISOString(),
    live_at: row.swappedAt?.toISOString() ?? null,
    files: row.files.map(toFileName),
    creators: row.documents,
    rejected_rows: row.rejected,
    added: comparison?.added ?? null,
    removed: comparison?.removed ?? null,
    changed: comparison?.changed ?? null,
    reasons: row.reasons ?? [],
  };
}

type Report = NonNullable<DirectoryImportReport['report']>;

function compareTopValues({ from, to }: Comparison): Report['top_values'] {
  const counts = Object.keys(from.profile.top).flatMap((field) => {
    const [was, is] = [from.profile.top[field] ?? {}, to.profile.top[field] ?? {}];
    const values = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return values.map((value) => ({ field, value, before: was[value] ?? 0, after: is[value] ?? 0 }));
  });
  return counts.sort((one, other) => Math.abs(other.after - other.before) - Math.abs(one.after - one.before));
}

/** The profile with shares of fields alone. */
function withoutCounts({ fill: { [OWN_EMAILS]: _, ...fill }, ...profile }: Comparison['from']['profile']) {
  return { ...profile, fill };
}

function toReport(comparison: Comparison): Report {
  const [before, after] = [withoutCounts(comparison.from.profile), comparison.to.profile];
  return {
    creators_before: before.creators,
    unchanged: comparison.unchanged,
    is_estimated: comparison.isEstimated,
    changed_fields: Object.entries(comparison.changedFields)
      .map(([field, creators]) => ({ field, creators }))
      .sort((one, other) => other.creators - one.creators),
    fill: Object.entries(before.fill).map(([field, share]) => ({
      field,
      before: share,
      after: after.fill[field] ?? 0,
    })),
    top_values: compareTopValues(comparison),
    in_metro: { before: before.inMetro, after: after.inMetro },
    percentiles: Object.entries(before.percentiles).flatMap(([field, points]) =>
      Object.entries(points).map(([point, value]) => ({
        field,
        percentile: Number(point),
        before: value,
        after: after.percentiles[field]?.[point] ?? null,
      })),
    ),
  };
}

function toBounds({ bounds }: ImportRow): DirectoryImportReport['bounds'] {
  const parsedBounds = Bounds.nullish().parse(bounds);
  if (!parsedBounds) return null;
  return {
    max_shrink: parsedBounds.maxShrink,
    max_fill_drop: parsedBounds.maxFillDrop,
    max_drift: parsedBounds.maxDrift,
    mode: parsedBounds.mode,
    canaries: parsedBounds.canaries.map(({ must_contain, ...canary }) => ({
      ...canary,
      must_contain: must_contain.length,
    })),
  };
}

export function importWithReport(row: ImportRow): z.input<typeof DirectoryImportReport> {
  const comparison = parseComparison(row);
  return { ...toImport(row), report: comparison ? toReport(comparison) : null, bounds: toBounds(row) };
}
