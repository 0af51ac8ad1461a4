import { z } from 'zod';
import type { SchemaNode } from '../../../kit/operation/json-schema.ts';
import { isRecord } from '../../../kit/values/wire.ts';

/** Adds limits of every input (src/kit/operation/input.ts) that no shape declares: numbers that JSON cannot carry, and NUL. */
function constrain(schema: SchemaNode): void {
  const types = [schema.type].flat();
  const isOpen = schema.enum === undefined && schema.const === undefined;
  if (types.includes('integer') && isOpen) {
    schema.minimum ??= Number.MIN_SAFE_INTEGER;
    schema.maximum ??= Number.MAX_SAFE_INTEGER;
  }
  if (types.includes('string') && isOpen && schema.format === undefined) schema.pattern ??= '^[^\\u0000]*$';
}

const REF = '#/components/schemas/';
const Operation = z.object({
  parameters: z.array(z.object({ schema: z.unknown().optional() })).optional(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown().optional() })) }).optional(),
});

/** Adds to every schema that an input can reach what the door refuses in all of them. */
export function constrainInputs(paths: Readonly<Record<string, SchemaNode>>, schemas: SchemaNode): void {
  const visited = new Set<unknown>();
  function visit(value: unknown): void {
    if (Array.isArray(value)) for (const one of value) visit(one);
    if (!isRecord(value) || visited.has(value)) return;
    visited.add(value);
    constrain(value);
    if (typeof value.$ref === 'string') visit(schemas[value.$ref.slice(REF.length)]);
    for (const name of ['items', 'anyOf', 'oneOf', 'allOf', 'additionalProperties']) visit(value[name]);
    if (isRecord(value.properties)) for (const property of Object.values(value.properties)) visit(property);
  }
  for (const path of Object.values(paths)) {
    for (const operation of Object.values(path)) {
      const { parameters = [], requestBody } = Operation.parse(operation);
      for (const { schema } of [...parameters, ...Object.values(requestBody?.content ?? {})]) visit(schema);
    }
  }
}
