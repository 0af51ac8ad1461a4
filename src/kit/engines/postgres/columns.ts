import type { ColumnType } from 'kysely';

/** Written once, read as a Date. */
export type CreatedAt = ColumnType<Date, Date, never>;
/** Written as JSON text, read as parsed JSON. */
export type JsonColumn<T> = ColumnType<T, string, string>;
export type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;
/** `YYYY-MM-DD`: a day has no time zone. */
export type Day = string;

/**
 * The shapes of columns that the database does not know: JSON, and text that the code alone restricts. The noun that
 * writes the column declares its shape, with `declare module`, under `table.column`.
 */
export interface ColumnShapes {
  'auditLog.oldValues': Record<string, unknown>;
  'auditLog.newValues': Record<string, unknown>;
}

/** The declared shape of a column. */
export type Shape<Name extends string> = Name extends keyof ColumnShapes ? ColumnShapes[Name] : unknown;
