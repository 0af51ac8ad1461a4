import type { DeclaredField } from 'virtual:forms';
import { z } from 'zod';

type Schema = z.core.JSONSchema.JSONSchema;

const isSchema = (schema: unknown): schema is Schema => typeof schema === 'object' && schema !== null;

/** A text longer than this is written in several lines. */
const ONE_LINE = 300;

/** Follows references, and leaves out the null of a value that may be null. */
function resolve(schema: Schema, root: Schema): { schema: Schema; isNullable: boolean } {
  const { $ref, anyOf, type, ...rest } = schema;
  if ($ref !== undefined) {
    const target = root.$defs?.[$ref.replace('#/$defs/', '')];
    return isSchema(target) ? resolve({ ...target, ...rest }, root) : { schema: rest, isNullable: false };
  }
  const parts = anyOf?.filter(isSchema) ?? [];
  const some = parts.filter((part) => part.type !== 'null');
  const [first] = some;
  if (first === undefined) return { schema, isNullable: false };
  const isNullable = some.length < parts.length;
  // A day or a time: the form asks for a day.
  const one = some.find(({ format }) => format === 'date') ?? some.find((part) => part.type === 'array') ?? first;
  const inner = resolve({ ...one, ...rest }, root);
  return { schema: inner.schema, isNullable: isNullable || inner.isNullable };
}

function toKind({ type, format, maxLength = Infinity }: Schema): DeclaredField['kind'] {
  if (type === 'boolean') return 'checkbox';
  if (type === 'integer' || type === 'number') return 'number';
  if (format === 'date') return 'date';
  if (format === 'date-time') return 'moment';
  if (format === 'email') return 'email';
  if (format === 'uri') return 'url';
  return maxLength > ONE_LINE && maxLength !== Infinity ? 'textarea' : 'text';
}

const toValues = ({ enum: values, const: only }: Schema): string[] | undefined =>
  values?.map(String) ?? (typeof only === 'string' ? [only] : undefined);

function describeField(name: string, declared: Schema, isRequired: boolean, root: Schema): DeclaredField {
  const { schema, isNullable } = resolve(declared, root);
  const values = toValues(schema);
  const field: DeclaredField = { name, kind: values ? 'select' : toKind(schema) };
  if (values) field.values = values;
  if (isRequired) field.isRequired = true;
  if (isNullable) field.isNullable = true;
  if (schema.description) field.about = schema.description;
  if (schema.default !== undefined && schema.default !== null) field.value = schema.default;
  if (schema.maxLength !== undefined && schema.maxLength <= ONE_LINE) field.maxLength = schema.maxLength;
  if (schema.type === 'integer') field.step = '1';
  if (typeof schema.minimum === 'number') field.min = schema.minimum;
  if (typeof schema.maximum === 'number' && schema.maximum < Number.MAX_SAFE_INTEGER) field.max = schema.maximum;
  if (schema.type === 'array' && isSchema(schema.items)) {
    const item = describeField('', schema.items, false, root);
    if (item.fields) return { ...field, kind: 'groups', fields: item.fields };
    return { ...field, kind: 'list', item: item.kind, ...(item.values ? { values: item.values } : {}) };
  }
  if (schema.properties) return { ...field, kind: 'group', fields: describeFields(schema, root) };
  if (schema.type === 'object') return { ...field, kind: 'pairs' };
  return field;
}

function describeFields({ properties = {}, required = [] }: Schema, root: Schema): DeclaredField[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    isSchema(schema) ? [describeField(name, schema, required.includes(name), root)] : [],
  );
}

/** The fields of a body or query, as the forms of the app need them. */
export function listDeclaredFields(shape: z.ZodType): DeclaredField[] {
  const root = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return describeFields(resolve(root, root).schema, root);
}
