/** Resolves with the requested value, or rejects after `ms`; a later result is discarded. */
export async function within<T>(ms: number, requested: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([requested, late]);
  } finally {
    clearTimeout(timer);
  }
}
