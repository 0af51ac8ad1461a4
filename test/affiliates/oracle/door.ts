import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { click } from '../../harness/affiliates/clicks.ts';
import {
  connectTestStore,
  deliver,
  newestDelivery,
  signedDelivery,
  type TestStore,
  WEBHOOK_SECRET,
} from '../../harness/affiliates/store.ts';
import { type Answer, call, makeBrand, send, type TestApp } from '../../harness/app.ts';

/** A key has 100 calls a minute, and the longest histories need several hundred within seconds. */
const KEYS = 12;

/** The machine stood still for a second or two, so it is unknown if a click was recorded or why a call failed. */
export class Undecided extends Error {}

/** A brand as its people, its stores and its visitors reach it. */
export interface Door {
  send(method: string, path: string, body?: object): Promise<Answer>;
  /** As `send`, of what must succeed. */
  ask(method: string, path: string, body?: object): Promise<Answer['body']>;
  click: typeof click extends (app: infer _A, ...rest: infer R) => infer T ? (...rest: R) => T : never;
  /** As its store tells it at a time. */
  report(store: number, topic: string, data: object, at: number): Promise<void>;
  connect(store: TestStore): Promise<string>;
}

export async function openDoor(app: TestApp): Promise<Door> {
  const brand = await makeBrand(app.context);
  const keys = await Promise.all(Array.from({ length: KEYS }, () => brand.key('brand')));
  const stores: { id: string; provider: Provider }[] = [];
  let turn = 0;
  const door: Door = {
    send: async (method, path, body) => {
      turn += 1;
      const key = keys[turn % KEYS] ?? '';
      const answer = await (body
        ? send(`${app.url}${path}`, key, method, body)
        : call(`${app.url}${path}`, key, { method }));
      if (answer.status === 503) throw new Undecided();
      return answer;
    },
    ask: async (method, path, body) => {
      const answer = await door.send(method, path, body);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    },
    click: (...rest) => click(app, ...rest),
    report: async (store, topic, data, at) => {
      const { id, provider } = stores[store] ?? { id: '', provider: 'generic' };
      await deliver(app.url, provider, id, signedDelivery(provider, WEBHOOK_SECRET, topic, data, new Date(at)));
      const kept = await newestDelivery(app.context, id);
      if (kept?.state === 'done') return;
      throw new Error(`${topic} of ${provider} is ${kept?.state}: ${JSON.stringify(kept?.reason)}`);
    },
    connect: async (store) => {
      const id = await connectTestStore(app.context, brand.id, store);
      stores.push({ id, provider: store.provider });
      return id;
    },
  };
  return door;
}
