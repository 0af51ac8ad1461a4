import type { ColumnType } from 'kysely';
import type { SandboxClockTable } from './sandbox-clock.ts';

/** Written once, read as a Date. */
export type CreatedAt = ColumnType<Date, Date, never>;
/** Written as JSON text, read as parsed JSON. */
export type Json<T> = ColumnType<T, string, string>;
/** `YYYY-MM-DD`: a day has no time zone. */
export type Day = string;

/** The tables. The room that writes a table adds it, with `declare module`. */
export interface Database {
  sandboxClock: SandboxClockTable;
}
