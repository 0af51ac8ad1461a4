import { tsvTime } from '../engines/clickhouse/tsv.ts';
import { rawRows } from './columns.ts';
import { isDayEdge, type Window } from './schema.ts';

/** What is summed: a table, or events folded as its rollup would, and which of its rows. */
interface Source {
  from: string;
  params: Record<string, string>;
}

/** Events of a window that begins or ends within a day; rollups only have whole days. */
function rawSource(brandId: string, { from, until }: Window): Source {
  const params = {
    brand: brandId,
    ...(from ? { from: tsvTime(from) } : {}),
    ...(until ? { until: tsvTime(until) } : {}),
  };
  const inside = [
    'brand_id = {brand:String}',
    ...(from ? ["at >= {from:DateTime64(3, 'UTC')}"] : []),
    ...(until ? ["at < {until:DateTime64(3, 'UTC')}"] : []),
  ].join(' AND ');
  return { from: rawRows(inside), params };
}

/** `rollup` without a window must hold all time, and with one a `day`. */
export function sourceOf(brandId: string, window: Window, rollup: string): Source {
  if (!isDayEdge(window.from) || !isDayEdge(window.until)) return rawSource(brandId, window);
  const day = (at: Date) => tsvTime(at).slice(0, 10);
  const { from, until } = window;
  const inside = [
    'brand_id = {brand:String}',
    ...(from ? ['day >= {from:Date}'] : []),
    ...(until ? ['day < {until:Date}'] : []),
  ];
  const params = { brand: brandId, ...(from ? { from: day(from) } : {}), ...(until ? { until: day(until) } : {}) };
  return { from: `(SELECT * FROM ${rollup} WHERE ${inside.join(' AND ')})`, params };
}
