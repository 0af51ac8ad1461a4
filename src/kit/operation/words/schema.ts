import { z } from 'zod';
import { isRecord } from '../../values/wire.ts';

export type Json = Record<string, unknown>;

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const isNoBound = (value: unknown) => typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;

/**
 * Dates are text on the wire; an e-mail address follows its pattern, which is narrower than the format; the bounds of
 * every safe integer are omitted, because reference pages would offer them as the value to try.
 */
function writeForm({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  if (jsonSchema.format === 'email' && jsonSchema.pattern !== undefined) delete jsonSchema.format;
  for (const bound of BOUNDS) if (isNoBound(jsonSchema[bound])) delete jsonSchema[bound];
  if (zodSchema._zod.def.type !== 'date') return;
  jsonSchema.type = 'string';
  jsonSchema.format = 'date-time';
}

const Written = z.object({
  schema: z.record(z.string(), z.unknown()),
  $defs: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});

/** A shape as JSON Schema 2020-12. Shapes with an id that it refers to are separate, under `refs`. */
export function toJsonSchema(
  shape: z.ZodType,
  io: 'input' | 'output',
  refs: string,
  isDescribed = true,
): { schema: Json; named: Json } {
  const written = z.toJSONSchema(shape, { io, unrepresentable: 'any', override: writeForm });
  const { $schema: _schema, $defs, ...schema } = written;
  const text = JSON.stringify({ schema, $defs }).replaceAll('"#/$defs/', `"${refs}`);
  const { schema: own, $defs: named = {} } = Written.parse(JSON.parse(text));
  for (const definition of Object.values(named)) {
    delete definition.id;
    if (isDescribed) describeEnvelope(definition);
  }
  if (isDescribed) describeEnvelope(own);
  return { schema: own, named };
}

/** Descriptions of the two fields of every response, for shapes that do not describe them. */
const ENVELOPE: Readonly<Record<string, string>> = {
  data: 'The response.',
  pagination: 'This page, and the number of items on all pages.',
};

function describeEnvelope({ properties }: Json): void {
  if (!isRecord(properties)) return;
  for (const [name, description] of Object.entries(ENVELOPE)) {
    const property = properties[name];
    if (isRecord(property) && property.description === undefined) property.description = description;
  }
}
