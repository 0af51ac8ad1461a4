import { z } from 'zod';
import { ListQuery } from '../../kit/values/page.ts';

const FIGURES = ['clicks', 'conversions', 'revenue'] as const;

/** The figure that a list of links is sorted by; undefined if it is sorted by time. */
export const findSortFigure = (sort: string) => FIGURES.find((figure) => figure === sort);

export const LinkSort = z
  .enum([...ListQuery.sort.unwrap().options, ...FIGURES])
  .default('newest')
  .describe(
    "`clicks`, `conversions`, `revenue`: by that lifetime figure, largest first; revenue in each link's own currency. The others " +
      'sort by creation time.',
  );
