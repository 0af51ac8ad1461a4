type Patch<T> = { [K in keyof T]?: T[K] | undefined };

/** `base` with the patch applied: an omitted field stays, null clears it. */
export function applyPatch<T extends object>(base: T, patch: Patch<T>): T {
  const result = { ...base };
  for (const name in patch) {
    const value = patch[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/**
 * Only the fields that the patch sets. An update writes just these columns, so that concurrent patches of different
 * fields do not conflict.
 */
export function omitUndefined<T extends object>(patch: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const result: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const name in patch) {
    const value = patch[name];
    if (isGiven(value)) result[name] = value;
  }
  return result;
}

function isGiven<V>(value: V): value is Exclude<V, undefined> {
  return value !== undefined;
}
