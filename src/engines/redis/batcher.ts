/** Less than a search takes under load, so that hardly anybody waits for a debit. */
const EVERY_MS = 3;

/** The socket under a client: corked, it keeps what is written until it is uncorked. */
interface Corked {
  cork(): void;
  uncork(): void;
}

export interface Batcher {
  /**
   * Calls `send` at once when nothing was sent for 3 ms; else together with all that come until then, or as soon as
   * `by` has settled for each of those.
   */
  join<T>(send: () => Promise<T>, by: Promise<unknown>): Promise<T>;
}

interface Group {
  sends: (() => void)[];
  /** Of how many the `by` has not settled. */
  busy: number;
}

/** Commands that can wait leave in one write, are made durable by one fsync, and their answers arrive in one read. */
export function openBatcher(socket: () => Corked): Batcher {
  let sentAt = Number.NEGATIVE_INFINITY;
  let open: Group | undefined;

  function flush(group: Group): void {
    if (open !== group) return;
    open = undefined;
    sentAt = performance.now();
    const stream = socket();
    stream.cork();
    for (const send of group.sends) send();
    stream.uncork();
  }

  function openGroup(): Group {
    const group: Group = { sends: [], busy: 0 };
    const dueInMs = sentAt + EVERY_MS - performance.now();
    if (dueInMs <= 0) setImmediate(flush, group);
    else setTimeout(flush, dueInMs, group);
    return group;
  }

  return {
    join: (send, by) =>
      new Promise((resolve, reject) => {
        open ??= openGroup();
        const group = open;
        group.sends.push(() => void send().then(resolve, reject));
        group.busy += 1;
        const settled = () => {
          group.busy -= 1;
          if (group.busy === 0) flush(group);
        };
        by.then(settled, settled);
      }),
  };
}
