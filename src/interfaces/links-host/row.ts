import { UTM_NAMES } from '../../kit/values/utm.ts';
import type { ClickKind } from '../../kit/values/visitor.ts';

/** Columns of `clicks_v1`, in the order of a row; the kind comes last because Redis has a say in it. */
export const COLUMNS = [
  'click_id',
  'brand_id',
  'link_id',
  'creator_id',
  'currency',
  'at',
  'visitor',
  'country',
  'device',
  'referrer_host',
  'rule',
  ...UTM_NAMES,
  'kind',
] as const;

/** The columns of a row that is sent: the time of its arrival comes last. */
export const STORED = [...COLUMNS, 'recorded_at'] as const;

/** Columns that are the same for every click on a link. */
export function linkFields(link: { brandId: string; id: string; creatorId: string; currency: string }): string {
  return `${link.brandId}\t${link.id}\t${link.creatorId}\t${link.currency}`;
}

/** 36 random bits of a link's id: enough to tell a visitor's links apart by, and less to send for every click than all. */
export const fingerprintLink = (linkId: string): string => linkId.slice(-6);

/** Clicks of one millisecond come by the dozen. */
let lastMs = Number.NaN;
let lastText = '';

function timeText(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString().replace('T', ' ').slice(0, 23);
  }
  return lastText;
}

export interface RowFacts {
  kind: ClickKind;
  visitor: string;
  country: string;
  device: string;
  referrerHost: string;
  rule: string;
}

/** Every field is made, checked or escaped by us: none has a tab or a line break. */
export function toRow(id: string, link: string, atMs: number, facts: RowFacts, utm: string): string {
  const { visitor, country, device, referrerHost, rule, kind } = facts;
  const rest = `${country}\t${device}\t${referrerHost}\t${rule}\t${utm}\t${kind}\n`;
  return `${id}\t${link}\t${timeText(atMs)}\t${visitor}\t${rest}`;
}

/**
 * Earlier releases wrote rows without a rule or `utm_` values, which may wait when a later one starts. A group has rows
 * of one release.
 */
export function addMissing(rows: string): string {
  const first = rows.slice(0, rows.indexOf('\n'));
  const missing = COLUMNS.length - first.split('\t').length;
  return missing <= 0 ? rows : rows.replaceAll(/\t(?=\w+$)/gm, '\t'.repeat(1 + missing));
}

const COUNTED = 'counted';
const REPEAT = 'repeat';

/** The rows of a group with those that are repeats, by place from 1 and in order, marked as such. */
export function markRepeats(rows: string, repeats: string): string {
  if (repeats === '') return rows;
  const lines = rows.split('\n');
  for (const place of repeats.split(' ')) {
    const line = lines[Number(place) - 1];
    if (line?.endsWith(COUNTED)) lines[Number(place) - 1] = line.slice(0, -COUNTED.length) + REPEAT;
  }
  return lines.join('\n');
}

const BRAND = COLUMNS.indexOf('brand_id');

const readBrand = (line: string) => line.split('\t', BRAND + 1)[BRAND] ?? '';

export const listBrands = (rows: string): string[] => [...new Set(rows.split('\n').filter(Boolean).map(readBrand))];

/** Separates the rows of paused brands, whose ids are separated by spaces. */
export function splitPaused(rows: string, paused: string): { rows: string; held: string } {
  if (paused === '') return { rows, held: '' };
  const ids = new Set(paused.split(' '));
  const lines = rows.split('\n').filter(Boolean);
  const text = (isHeld: boolean) =>
    lines
      .filter((line) => ids.has(readBrand(line)) === isHeld)
      .map((line) => `${line}\n`)
      .join('');
  return { rows: text(false), held: text(true) };
}
