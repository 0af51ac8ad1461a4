/** Allows `burst` events at once, and one more every `everyMs`. */
export function createBurstLimiter(burst: number, everyMs: number): () => boolean {
  let left = burst;
  let atMs = performance.now();
  return () => {
    const now = performance.now();
    const grown = Math.floor((now - atMs) / everyMs);
    left = Math.min(burst, left + grown);
    atMs += grown * everyMs;
    if (left === 0) return false;
    left -= 1;
    return true;
  };
}
