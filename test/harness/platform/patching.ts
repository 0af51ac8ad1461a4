import { describe, expect, it } from 'vitest';
import { call, send, type TestApp } from '../app.ts';

/** Of a field that null does not clear. */
export const refused = Symbol('refused');

/** A field of a patch: what to send, where the record then shows what, and what null leaves there. */
export interface Field {
  set: unknown;
  shows: string;
  becomes?: unknown;
  cleared: unknown;
  /** What follows from it. */
  derives?: string;
  /** Where only a record in another state takes it. */
  make?: () => Promise<string>;
}

export const text = (shows: string, set = 'text'): Field => ({ set, shows, cleared: null });

export interface Patched {
  /** Every field that the shape has: a further one fails here until it is added. */
  shape: Record<string, unknown>;
  make: () => Promise<string>;
  fields: Record<string, Field>;
  /** Where a record is named in the body, and not by the path. */
  byBody?: true;
}

/** `{a: {b: value}}` of `a.b`. */
const patchOf = (path: string, value: unknown): object =>
  Object(path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value));

const at = (record: Record<string, unknown>, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value == null ? value : Object(value)[name]), record);

/** What no patch of a field changes: everything but the field and what is derived with it. */
const rest = (record: Record<string, unknown>, { shows, derives = '' }: Field) => {
  const {
    updated_at: _at,
    compensation_label: _label,
    url: _url,
    product_description: _said,
    ...others
  } = structuredClone(record);
  Reflect.deleteProperty(others, derives);
  const path = shows.split('.');
  const last = path.pop() ?? '';
  const holder = at(others, path.join('.')) ?? others;
  if (typeof holder === 'object' && holder !== null) Reflect.deleteProperty(path.length > 0 ? holder : others, last);
  return others;
};

/** The app, and a key each time another: one has 100 calls a minute. Known once the tests begin. */
export interface PatchWorld {
  readonly app: TestApp;
  key(): string;
}

/** For each record: its shape has these fields, and each is set alone, stays when it is omitted, and is cleared by null. */
export function describePatches(world: PatchWorld, records: Record<string, Patched>): void {
  const read = async (path: string) => (await call(`${world.app.url}${path}`, world.key())).body.data;
  const patch = (path: string, body: object) => send(`${world.app.url}${path}`, world.key(), 'PATCH', body);
  /** Where a record is named in the body. */
  const patchByBody = (path: string, body: object) => {
    const end = path.lastIndexOf('/');
    return patch(path.slice(0, end), { id: path.slice(end + 1), ...body });
  };
  describe.each(Object.entries(records))('a patch of a %s', (_name, { shape, make, fields, byBody }) => {
    const change = byBody ? patchByBody : patch;

    it('knows exactly these fields', () => {
      expect(
        Object.keys(fields)
          .filter((name) => !name.includes('.'))
          .sort(),
      ).toEqual(Object.keys(shape).sort());
    });

    it('of nothing changes nothing', async () => {
      const path = await make();
      const before = await read(path);
      expect((await change(path, {})).status).toBe(200);
      expect({ ...(await read(path)), updated_at: '' }).toEqual({ ...before, updated_at: '' });
    });

    it.each(Object.entries(fields))(
      '%s: set sets it alone, omitted it stays, null does what is said',
      async (name, field) => {
        const path = await (field.make ?? make)();
        const before = await read(path);
        expect((await change(path, patchOf(name, field.set))).status).toBe(200);
        const set = await read(path);
        expect(at(set, field.shows)).toEqual(field.becomes ?? field.set);
        if (field.shows.startsWith(name)) expect(rest(set, field)).toEqual(rest(before, field));
        await change(path, {});
        expect(at(await read(path), field.shows)).toEqual(field.becomes ?? field.set);
        const cleared = await change(path, patchOf(name, null));
        expect(cleared.status).toBe(field.cleared === refused ? 422 : 200);
        const expected = field.cleared === refused ? at(set, field.shows) : field.cleared;
        expect(at(await read(path), field.shows)).toEqual(expected);
      },
    );
  });
}
