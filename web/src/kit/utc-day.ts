export const DAY_MS = 86_400_000;

/** The UTC day of a moment, such as 2026-03-02. */
export const toUtcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
