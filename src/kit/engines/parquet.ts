import type { SchemaElement } from 'hyparquet-writer';

/** The values of a column: times are UTC milliseconds, and every column may be null. */
export type ColumnType = 'text' | 'integer' | 'number' | 'boolean' | 'time';

export interface Column {
  name: string;
  type: ColumnType;
}

const ELEMENTS = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const;

/** A value of a row as the writer takes it. */
function stored(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'integer') return BigInt(Number(value));
  if (type === 'time') return value instanceof Date ? value : new Date(String(value));
  return value;
}

/** Writes rows as one Parquet file, a row group a batch. No more than a batch is in memory. */
export async function* parquetOf(
  columns: readonly Column[],
  batches: AsyncIterable<readonly Readonly<Record<string, unknown>>[]>,
): AsyncGenerator<Buffer> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const writer = new ByteWriter();
  const root: SchemaElement = { name: 'root', num_children: columns.length };
  const schema = columns.map(
    ({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...ELEMENTS[type] }),
  );
  const file = new ParquetWriter({ writer, schema: [root, ...schema], createdBy: 'Rollcall' });
  const takeOutput = (): Buffer => {
    const bytes = Buffer.from(writer.getBuffer());
    writer.index = 0;
    return bytes;
  };
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    const columnData = columns.map(({ name, type }) => ({
      name,
      offsetIndex: false,
      data: rows.map((row) => stored(row[name], type)),
    }));
    await file.write({ columnData, rowGroupSize: rows.length });
    yield takeOutput();
  }
  await file.finish();
  yield takeOutput();
}
