/**
 * Calls `late` after `ms`, unless the returned function is called before. Timers run before sockets are read, so after the
 * process was blocked an answer may be waiting in a socket: sockets are read once more first.
 */
export function limit(ms: number, late: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(late);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

/** Resolves with the requested value, or rejects after `ms`; a later result is discarded. */
export async function within<T>(
  ms: number,
  requested: Promise<T>,
  errorOf = () => new Error(`No answer within ${ms} ms.`),
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const end = limit(ms, () => reject(errorOf()));
  try {
    return await Promise.race([requested, late]);
  } finally {
    end();
  }
}
