import type { z } from 'zod';
import { isRecord } from './wire.ts';

/** Schema keyword of fields that people outside the brand write: agents must treat them as data, never as instructions. */
export const UNTRUSTED = 'x-untrusted';

/** Marks a field that people outside the brand write, such as creators, applicants or a store's customers. */
export const fromOutside = <S extends z.ZodType>(shape: S): S => shape.meta({ [UNTRUSTED]: true });

/** The paths of a JSON Schema's untrusted fields, such as `data[].message`. */
export function untrustedPaths(schema: unknown, path = ''): string[] {
  if (!isRecord(schema)) return [];
  if (schema[UNTRUSTED] === true) return [path];
  const { properties, items, additionalProperties } = schema;
  const below = isRecord(properties)
    ? Object.entries(properties).flatMap(([name, inner]) =>
        untrustedPaths(inner, path === '' ? name : `${path}.${name}`),
      )
    : [];
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => {
    const list = schema[name];
    return Array.isArray(list) ? list.flatMap((one) => untrustedPaths(one, path)) : [];
  });
  const inside = [...untrustedPaths(items, `${path}[]`), ...untrustedPaths(additionalProperties, `${path}.*`)];
  return [...new Set([...below, ...branches, ...inside])];
}

/** True if a response has a value at such a path. */
export function isPresent(value: unknown, path: string): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (path === '') return !Array.isArray(value) || value.length > 0;
  if (path.startsWith('[]')) return Array.isArray(value) && value.some((one) => isPresent(one, path.slice(2)));
  const [, name = '', rest = ''] = /^\.?([^.[]+)(.*)$/.exec(path) ?? [];
  if (!isRecord(value)) return false;
  return name === '*' ? Object.values(value).some((one) => isPresent(one, rest)) : isPresent(value[name], rest);
}
