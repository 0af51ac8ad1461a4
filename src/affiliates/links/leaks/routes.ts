import { figuresAnswer } from '../../../analytics/figures/queries.ts';
import { FRESHNESS } from '../../../analytics/figures/schema.ts';
import { read } from '../../../kit/operation/kit.ts';
import { eachLeak, pageOfLeaks } from './actions.ts';
import { LeakRow, Leaks, LeaksQuery } from './schema.ts';

const listLeaks = read({
  id: 'list_code_leaks',
  path: '/v1/affiliates/leaks',
  tag: 'Affiliates',
  summary: 'Codes that are probably public',
  description:
    "Compares each code's orders of a period, at most 92 days, with the eight weeks before of its creator's codes: orders " +
    `without a click, returning customers, bursts, visits from coupon sites. ${FRESHNESS}`,
  forAgents: false,
  query: LeaksQuery,
  response: Leaks,
  ...figuresAnswer({ item: LeakRow, page: pageOfLeaks, rows: eachLeak, from: 'postings' }),
});

export const leakOperations = [listLeaks] as const;
