import type { Follower } from '../../operation/job.ts';
import { openDue } from '../../values/due.ts';
import { settleAll } from './settle.ts';

/** Charges of a process that was killed before it said which keys were used. */
const ALL_EVERY_MS = 600_000;

export const settleCharges: Follower = {
  name: 'settle-charges',
  everyMs: 1_000,
  open: ({ postgres, redis, clock }) => {
    const due = openDue(clock, ALL_EVERY_MS);
    return () => due.ask((after) => settleAll({ db: postgres.db, redis, clock }, after));
  },
};
