type Patch<T> = { [K in keyof T]?: T[K] | undefined };

/** `base` with what the patch sets: an omitted field stays, a null clears. */
export function patched<T extends object>(base: T, patch: Patch<T>): T {
  const result = { ...base };
  for (const name in patch) {
    const value = patch[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** Only what the patch sets: the columns of an update, so that two patches of different fields never meet. */
export function given<T extends object>(patch: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
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
