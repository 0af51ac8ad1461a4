import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { rawRows } from './columns.ts';
import { isDayEdge, type Window } from './schema.ts';

/** What is summed: a table, or events folded like its rollup, and the condition on its rows. */
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

/** Without a window, `rollup` must cover all time; with one, it needs a `day`. */
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
