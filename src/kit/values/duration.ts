export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const YEAR_MS = 365 * DAY_MS;

const UNIT_MS = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: 1_000 } as const;

const FORM = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

export const DURATION_FORM = 'such as 31d, 12h, 90m or 1d12h';

/** Parses a duration such as `1d12h` to milliseconds; undefined when the text is not a duration. */
export function readDuration(text: string): number | undefined {
  const [whole, days, hours, minutes, seconds] = FORM.exec(text.trim()) ?? [];
  if (!whole) return undefined;
  return (
    Number(days ?? 0) * UNIT_MS.d +
    Number(hours ?? 0) * UNIT_MS.h +
    Number(minutes ?? 0) * UNIT_MS.m +
    Number(seconds ?? 0) * UNIT_MS.s
  );
}

/** Formats milliseconds as a duration such as `1d12h`, down to seconds. */
export function durationText(ms: number): string {
  let rest = Math.floor(ms / 1_000) * 1_000;
  let text = '';
  for (const [unit, unitMs] of Object.entries(UNIT_MS)) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || '0s';
}
