import type { ChainableCommander, Redis as Client } from 'ioredis';

type Argument = string | number;

interface Waiting {
  keys: string[];
  args: Argument[];
  resolve: (reply: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Calls of one script in groups: one group is in flight, and what arrives meanwhile is the next. Redis makes a group
 * durable with one fsync anyway; sent one by one, each call costs a write and a read of its own here.
 */
export function openGroup(client: Client, sha: string): (keys: string[], args: Argument[]) => Promise<unknown> {
  let waiting: Waiting[] = [];
  let isFlying = false;

  async function send(group: Waiting[]): Promise<void> {
    let pipeline: ChainableCommander = client.pipeline();
    for (const { keys, args } of group) pipeline = pipeline.evalsha(sha, keys.length, ...keys, ...args);
    try {
      const replies = (await pipeline.exec()) ?? [];
      for (const [i, { resolve, reject }] of group.entries()) {
        const [error, reply] = replies[i] ?? [new Error('Redis gave no answer.')];
        if (error) reject(error);
        else resolve(reply);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  async function fly(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await send(group);
    }
    isFlying = false;
  }

  return (keys, args) =>
    new Promise((resolve, reject) => {
      waiting.push({ keys, args, resolve, reject });
      if (isFlying) return;
      isFlying = true;
      // After this turn of the event loop: every call that it read joins.
      setImmediate(() => void fly());
    });
}
