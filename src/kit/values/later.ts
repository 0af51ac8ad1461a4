/** Defers `make` to the first use, so that the start of a process does not wait for it. */
export function later<T>(make: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => {
    cached ??= { value: make() };
    return cached.value;
  };
}
