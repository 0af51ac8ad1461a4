import { readOwnClick } from '../../kit/values/click-token.ts';
import { foldCase } from '../../kit/values/fold.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { toClickId, truncate } from './attribute.ts';
import type { Attribution } from './attribution.shapes.ts';

/** Codes and clicks that came with an order. */
export interface OrderCandidates {
  codes: readonly string[];
  /** Click ids as they were sent, each with its click if we signed it. */
  clicks: { token: string; click: ReturnType<typeof readOwnClick> }[];
}

/** Removes what PostgreSQL cannot store, NUL and half surrogate pairs; no code or click id of ours has either. */
const toStorable = (text: string) => text.replaceAll('\0', '').toWellFormed();

export const readCandidates = (
  secrets: Secrets,
  { codes, clickIds }: { codes: readonly string[]; clickIds: readonly string[] },
): OrderCandidates => ({
  codes: codes.map(toStorable),
  clicks: clickIds.map(toStorable).map((token) => ({ token, click: readOwnClick(secrets, token) })),
});

export const NO_CANDIDATES = { codes: [], clickIds: [] };

/** Selects the candidates that no earlier decision has seen. */
export function selectUnseen({ candidates }: Attribution, { codes, clicks }: OrderCandidates): OrderCandidates {
  const toCodeKey = (code: string) => `code ${foldCase(truncate(code))}`;
  const seenKeys = new Set(
    candidates.flatMap((one) => {
      if (one.type === 'customer') return [];
      return [one.type === 'code' ? toCodeKey(one.code) : `click ${one.click_id}`];
    }),
  );
  return {
    codes: codes.filter((code) => !seenKeys.has(toCodeKey(code))),
    clicks: clicks.filter((one) => !seenKeys.has(`click ${toClickId(one)}`)),
  };
}
