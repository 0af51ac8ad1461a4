import { limit } from './within.ts';

interface Owner {
  taken: number;
  waiting: (() => void)[];
}

/** Places that each owner has a few of at once. Others of the same owner wait behind their own, first come, first served. */
export interface Places {
  /** Runs the work in a place. Throws what `refuse` returns if none of the owner's is free in time. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

export function openPlaces(most: number, waitsMs: number, refuse: () => Error): Places {
  const owners = new Map<string, Owner>();

  async function takeTurn({ waiting }: Owner): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push(resolve);
    const end = limit(waitsMs, () => {
      const place = waiting.indexOf(resolve);
      if (place < 0) return;
      waiting.splice(place, 1);
      reject(refuse());
    });
    await promise.finally(end);
  }

  return {
    run: async (name, work) => {
      const owner = owners.get(name) ?? { taken: 0, waiting: [] };
      owners.set(name, owner);
      if (owner.taken < most) owner.taken += 1;
      else await takeTurn(owner);
      try {
        return await work();
      } finally {
        // The place goes to the next who waits, if there is one.
        const next = owner.waiting.shift();
        if (next) next();
        else owner.taken -= 1;
        if (owner.taken === 0) owners.delete(name);
      }
    },
  };
}
