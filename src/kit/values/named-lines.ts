import { foldCase } from './fold.ts';

/** A line of an order, as refunds may name it. */
interface NamedLine {
  lineId: string;
  sku: string | null;
  title?: string | null | undefined;
}

/**
 * Finds the lines that a refund names: those with this id, or else with this SKU, or else with this title. A SKU or title
 * is compared without case, and several lines may have it.
 */
export function findNamedLines<L extends NamedLine>(lines: readonly L[], name: string): L[] {
  const byId = lines.filter(({ lineId }) => lineId === name);
  // A line without an id of its own has its SKU for one, which other lines may have beside theirs.
  if (byId.some(({ lineId, sku }) => lineId !== sku)) return byId;
  const foldedName = foldCase(name);
  const isName = (text: string | null | undefined) => typeof text === 'string' && foldCase(text) === foldedName;
  const bySku = lines.filter(({ sku }) => isName(sku));
  return bySku.length > 0 ? bySku : lines.filter(({ title }) => isName(title));
}
