/** What `make` returns, made when it is first wanted: the start of a process does not wait for it. */
export function later<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
