import { listTypes, type SchemaNode } from '../../kit/operation/json-schema.ts';
import type { Problem } from '../../kit/values/errors.ts';
import { isRecord } from '../../kit/values/wire.ts';

const SHOWN = 60;

const listBranches = ({ anyOf, oneOf }: SchemaNode): SchemaNode[] =>
  [anyOf, oneOf].flatMap((branches) => (Array.isArray(branches) ? branches.filter(isRecord) : []));

function takesText(schema: SchemaNode): boolean {
  if (Array.isArray(schema.enum)) return schema.enum.some((value) => typeof value === 'string');
  if (schema.const !== undefined) return typeof schema.const === 'string';
  const branches = listBranches(schema);
  if (branches.length > 0) return branches.some(takesText);
  const types = listTypes(schema);
  return types.includes(undefined)
    ? !isRecord(schema.properties) && schema.items === undefined
    : types.includes('string');
}

/** A schema in the form that a caller writes, such as `["…"]` or `{"amount": 1}`. */
function describeForm(schema: SchemaNode): string {
  const [branch] = listBranches(schema);
  if (branch) return describeForm(branch);
  if (isRecord(schema.properties)) {
    const fields = Object.entries(schema.properties).filter(([, own]) => isRecord(own));
    const requiredNames = Array.isArray(schema.required) ? schema.required : [];
    const requiredFields = fields.filter(([name]) => requiredNames.includes(name));
    const fieldForms = (requiredFields.length > 0 ? requiredFields : fields.slice(0, 1)).map(
      ([name, own]) => `${JSON.stringify(name)}: ${isRecord(own) ? describeForm(own) : '…'}`,
    );
    return `{${fieldForms.join(', ')}}`;
  }
  const types = listTypes(schema);
  if (types.includes('array')) return `[${isRecord(schema.items) ? describeForm(schema.items) : '…'}]`;
  if (types.includes('object')) return '{…}';
  if (types.includes('boolean')) return 'true';
  if (types.includes('integer') || types.includes('number')) return '1';
  return '"…"';
}

/** A single value has a name for what is wanted, and needs no example. */
function describeWanted(schema: SchemaNode): string {
  const form = describeForm(schema);
  if (form === 'true') return 'true or false';
  return form === '1' ? 'a number' : `of the form ${form}`;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads values that a host sent as JSON text, at any depth, where the schema takes no text there. A field that takes
 * text keeps it, even if it looks like JSON. Problems go to the given list.
 */
export function parseTexts(value: unknown, schema: SchemaNode, field: string, problems: Problem[]): unknown {
  if (typeof value === 'string' && !takesText(schema)) {
    const parsed = parseText(value);
    if (parsed !== undefined) return parseInside(parsed, schema, field, problems);
    const text = JSON.stringify(value.slice(0, SHOWN));
    const message = `must be ${describeWanted(schema)}; got the text ${text}.`;
    problems.push({ field, code: 'invalid_type', message });
    return value;
  }
  return parseInside(value, schema, field, problems);
}

function parseInside(value: unknown, schema: SchemaNode, field: string, problems: Problem[]): unknown {
  const shapes = [schema, ...listBranches(schema)];
  if (Array.isArray(value)) {
    const items = shapes.map((shape) => shape.items).find(isRecord);
    return items ? value.map((item, i) => parseTexts(item, items, `${field}[${i}]`, problems)) : value;
  }
  if (!isRecord(value)) return value;
  const properties = shapes.map((shape) => shape.properties).find(isRecord) ?? {};
  const additional = shapes.map((shape) => shape.additionalProperties).find(isRecord);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const own = properties[name] ?? additional;
      return [name, isRecord(own) ? parseTexts(inner, own, `${field}.${name}`, problems) : inner];
    }),
  );
}
