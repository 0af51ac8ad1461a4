/** How long the link to a brief or to a piece of work opens: the work may go on for months. */
export const YEAR_MS = 365 * 24 * 60 * 60 * 1_000;
