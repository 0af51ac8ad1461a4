/** Long enough to gather what arrives while a search runs, too short to be missed by anybody who waits. */
const LONGEST_MS = 5;

/** The socket under a client: corked, it keeps what is written until it is uncorked. */
interface Corked {
  cork(): void;
  uncork(): void;
}

export interface Gathering {
  /** Calls `send` together with all others that wait: when the first of their `by` settles, or after 5 ms. */
  join<T>(send: () => Promise<T>, by: Promise<unknown>): Promise<T>;
}

/** Commands that can wait leave in one write, and their answers arrive in one read. */
export function openGathering(socket: () => Corked): Gathering {
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    if (waiting.length === 0) return;
    clearTimeout(timer);
    const sends = waiting;
    waiting = [];
    const stream = socket();
    stream.cork();
    for (const send of sends) send();
    stream.uncork();
  }

  return {
    join: (send, by) =>
      new Promise((resolve, reject) => {
        waiting.push(() => void send().then(resolve, reject));
        if (waiting.length === 1) timer = setTimeout(flush, LONGEST_MS);
        by.then(flush, flush);
      }),
  };
}
