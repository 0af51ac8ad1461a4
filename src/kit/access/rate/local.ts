import { LRUCache } from 'lru-cache';

export interface Window {
  calls: number;
  windowEndMs: number;
}

/** Counts calls in this process only, while Redis does not respond. */
export function openLocalWindows(windowMs: number): (id: string, nowMs: number) => Window {
  // Allocated when Redis first fails to respond, because it takes megabytes and each door has one.
  let opened: LRUCache<string, Window> | undefined;
  return (id, nowMs) => {
    opened ??= new LRUCache({ max: 100_000 });
    const windows = opened;
    const open = windows.get(id);
    const window = open && open.windowEndMs > nowMs ? open : { calls: 0, windowEndMs: nowMs + windowMs };
    window.calls += 1;
    windows.set(id, window);
    return window;
  };
}
