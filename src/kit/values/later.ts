/** Defers `make` to the first use, so that the start of a process does not wait for it. */
export function later<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
