/**
 * Resolves with the requested value, or rejects after `ms`; a later result is discarded. A result that is in a socket
 * already, after the process was blocked, is in time: timers run before sockets are read, so these are read once more.
 */
export async function within<T>(
  ms: number,
  requested: Promise<T>,
  late = () => new Error(`No answer within ${ms} ms.`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(late())), ms);
  });
  try {
    return await Promise.race([requested, lateness]);
  } finally {
    clearTimeout(timer);
  }
}
