import type { Flag } from './flags.ts';
import type { Format } from './formats/format.ts';
import type { ColumnProfile, LineList } from './profile.ts';
import type { Mapping, Request } from './shapes.ts';

export interface Choice {
  mapping: Mapping;
  label: string;
}

/** Something that the file does not say. `uses` names the rule that only some records need. */
export interface Doubt {
  code: string;
  field: string | null;
  message: string;
  lines: number;
  firstLines: number[];
  choices: Choice[];
  uses?: number;
}

export interface Known {
  request: Request;
  headers: string[];
  format: Format | undefined;
  profiles: ReadonlyMap<number, ColumnProfile>;
  totalsLines: number[];
  descriptionLine: number | null;
  footer?: string | undefined;
  flags: readonly Flag[];
  /** The table is of a workbook, whose numbers have no zeros at their end. */
  isSheet: boolean;
  /** Columns whose dates a spreadsheet may have read in the wrong order. */
  halfDates: readonly number[];
  /** Days of the workbook are counted from 1904. */
  is1904: boolean;
  /** A column of amounts that are proved to be parts of an order, so that they are added. */
  addedColumn?: number | undefined;
  /** The meanings of the amount that are left, once the whole file has been tried. */
  goodsChoices?: Choice[];
  /** Identities have proved them. */
  isGoodsProved?: boolean;
}

export const NO_LINES = { lines: 0, firstLines: [] };
export const toLines = (list: LineList) => ({ lines: list.count, firstLines: list.first });

/** A mapping over another: what it says, replaces; maps are merged. */
export function mergeMappings(base: Mapping, over: Mapping): Mapping {
  const mergedMapping: Mapping = { ...base, ...over };
  if (base.columns || over.columns) mergedMapping.columns = { ...base.columns, ...over.columns };
  if (base.constants || over.constants) mergedMapping.constants = { ...base.constants, ...over.constants };
  if (base.symbols || over.symbols) mergedMapping.symbols = { ...base.symbols, ...over.symbols };
  if (base.statuses || over.statuses) mergedMapping.statuses = { ...base.statuses, ...over.statuses };
  if (base.people || over.people) mergedMapping.people = { ...base.people, ...over.people };
  return mergedMapping;
}
/** Fields whose amounts decide what is written. */
export const BASIC = ['amount', 'subtotal', 'total'] as const;

/** A mapping being turned into a plan; doubts are added on the way. */
export interface Settling {
  known: Known;
  mapping: Mapping;
  columns: Readonly<Record<string, number>>;
  doubts: Doubt[];
}
