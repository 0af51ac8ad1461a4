import type { Answer } from '../call/call.ts';
import { isRecord } from '../call/check.ts';

/** A simulation that did not take a job. */
export type Simulated = Extract<Answer<'simulate_rules'>, { meta: unknown }>;

/** Recognizes the result of a simulation's job. */
export const isSimulated = (result: unknown): result is Simulated =>
  isRecord(result) && isRecord(result.data) && Array.isArray(result.data.totals) && isRecord(result.meta);
