import { expect } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { mintClick } from '../../src/kit/values/click-token.ts';
import { keysInTurn, makeBrand, send, startApp, unique } from '../harness/app.ts';

/** An app whose time is that of the stories. */
export async function openStories() {
  let now = new Date();
  const app = await startApp({ clock: { now: () => now } });
  const setTime = (at: Date) => {
    now = at;
  };
  return { app, setTime, getTime: () => now, close: () => app.close() };
}
type Stories = Awaited<ReturnType<typeof openStories>>;

/** The stories of a text: each begins with its title after `#`. */
export const listStories = (text: string): [title: string, lines: string[]][] =>
  text
    .split(/^# /m)
    .slice(1)
    .map((story) => {
      const [title = '', ...lines] = story.split('\n').map((line) => line.trim());
      return [title, lines.filter(Boolean)];
    });

interface Order {
  body: Record<string, unknown>;
  id: string;
}

/** `mail=leo amount=3`: values are JSON where they can be. */
function toFields(words: readonly string[]): Record<string, unknown> {
  const fields = words.map((word): [string, unknown] => {
    const [name = '', value = ''] = word.split(/=(.*)/s);
    try {
      return [name, JSON.parse(value)];
    } catch {
      return [name, value];
    }
  });
  return Object.fromEntries(fields);
}

/** A brand that lives through one story, line by line. */
class Story {
  readonly #stories: Stories;
  readonly #brandId: string;
  readonly #nextKey: () => string;
  readonly #suffix = unique('x');
  readonly #links = new Map<string, { id: string; value: string }>();
  readonly #named = new Map<string, string>();
  readonly #orders: Order[] = [];
  #waiting: Order[] = [];

  constructor(stories: Stories, brandId: string, nextKey: () => string) {
    this.#stories = stories;
    this.#brandId = brandId;
    this.#nextKey = nextKey;
    stories.setTime(new Date('2026-01-01T00:00:00Z'));
  }

  #mail = (name: string) => `${name}@${this.#suffix}.example`;
  #creator = (name: string) => `${name}@creators-${this.#suffix}.example`;

  /** The time, a second later than ever before. */
  #tick(): string {
    const { setTime, getTime } = this.#stories;
    setTime(new Date(getTime().getTime() + 1_000));
    return getTime().toISOString();
  }

  async #ask(method: string, path: string, body?: object) {
    const answer = await send(`${this.#stories.app.url}${path}`, this.#nextKey(), method, body);
    const { details, error } = answer.body;
    expect([answer.status < 300, details ?? error], `${method} ${path} ${JSON.stringify(body)}`).toEqual([
      true,
      undefined,
    ]);
    return answer.body.data;
  }

  async #explain({ body }: Order) {
    return await this.#ask('GET', `/v1/affiliates/explain?order_id=${body.order_id}`);
  }

  #orderAt(number: string | undefined): Order {
    const order = this.#orders[Number(number) - 1];
    if (!order) throw new Error(`There is no order ${number}.`);
    return order;
  }

  #link(name: string) {
    const link = this.#links.get(name);
    if (!link) throw new Error(`${name} has no code.`);
    return link;
  }

  /** With ids, codes and addresses in place of their names. */
  async #fill(text: string): Promise<string> {
    const filled = text
      .replaceAll(/\$link:([\w/]+)/g, (_, name: string) => this.#link(name).id)
      .replaceAll(/\$code:([\w/]+)/g, (_, name: string) => this.#link(name).value)
      .replaceAll(/\$mail:(\w+)/g, (_, name: string) => this.#mail(name))
      .replaceAll(/\$creator:(\w+)/g, (_, name: string) => this.#creator(name))
      .replaceAll(/\$at:(\d+)/g, (_, number: string) => String(this.#orderAt(number).body.placed_at))
      .replaceAll('$now', this.#stories.getTime().toISOString())
      .replaceAll(/\$([A-Z])\b/g, (_, name: string) => this.#named.get(name) ?? name);
    const [, what, number] = /\$(customer|commission):(\d+)/.exec(filled) ?? [];
    if (what === undefined) return filled;
    const { customer_id, commission } = await this.#explain(this.#orderAt(number));
    return filled.replace(`$${what}:${number}`, what === 'customer' ? customer_id : commission.id);
  }

  /** `ana = 10 subscription {"months": 3}`, or whole terms; `ana/link = ...` makes a link. */
  async #assign(as: string, text: string): Promise<void> {
    const [name = '', kind] = as.split('/');
    const [, percent, covers = 'order', more = '{}'] =
      /^([\d.]+) ?(subscription|customer)? ?(\{.*\})?$/.exec(text) ?? [];
    const terms =
      percent === undefined ? JSON.parse(text) : { rate: { percent: Number(percent) }, covers, ...JSON.parse(more) };
    const creator_email = this.#creator(name);
    await send(`${this.#stories.app.url}/v1/roster`, this.#nextKey(), 'POST', { creator_email });
    const link = kind === 'link' ? { type: 'link', destination_url: 'https://shop.example' } : {};
    const given = terms === null ? {} : { terms };
    const body = { creator_email, value: unique(name).toUpperCase(), hold_days: 0, ...link, ...given };
    this.#links.set(as, await this.#ask('POST', '/v1/affiliates/links', body));
    this.#tick();
  }

  /** `renewal s1 100 ana mail=leo`: the code is ana's; `~ana/link` is a click on hers. */
  #toOrder([kind, subscription, amount, ...words]: readonly string[]): Order {
    const at = this.#tick();
    const { mail = 'mia', ...fields } = toFields(words.filter((word) => word.includes('=')));
    const carried = words.filter((word) => !word.includes('='));
    const atMs = Date.parse(at) - 500;
    const clicked = carried.filter((word) => word.startsWith('~')).map((word) => this.#link(word.slice(1)).id);
    const click_ids = clicked.map((linkId) =>
      mintClick(this.#stories.app.context.secrets.key('click'), { linkId, atMs }),
    );
    const codes = carried.filter((word) => !word.startsWith('~')).map((name) => this.#link(name).value);
    const body = {
      ...{
        source: 'shop',
        order_id: unique('o'),
        kind,
        currency: 'USD',
        amount: Number(amount),
        placed_at: at,
        paid_at: at,
      },
      ...{ customer_email: mail === null ? null : this.#mail(String(mail)), updated_at: at, codes, click_ids },
      ...(subscription === '-' ? {} : { subscription_id: subscription }),
      ...fields,
    };
    const order = { body, id: '' };
    this.#orders.push(order);
    return order;
  }

  async #pays(order: Order): Promise<string> {
    const { commission } = await this.#explain(order);
    return commission ? `${commission.creator_email.split('@')[0]} ${commission.commission}` : '-';
  }

  async #report(order: Order): Promise<string> {
    order.id = (await this.#ask('POST', '/v1/orders', order.body)).id;
    return await this.#pays(order);
  }

  /** Does what a line says; returns what the order that it is about pays then. */
  async #do(line: string): Promise<string | undefined> {
    const [verb = '', ...words] = (await this.#fill(line)).split(/ (?![^{[]*[}\]])/);
    const [number] = words;
    if (words[0] === '=') return void (await this.#assign(verb, line.slice(line.indexOf('=') + 2)));
    if (verb === 'at') return void this.#stories.setTime(new Date(number ?? ''));
    if (verb === '+') return void this.#waiting.push(this.#toOrder(words));
    if (verb === 'post') {
      await this.#ask('POST', '/v1/orders/batch', { orders: this.#waiting.map(({ body }) => body).reverse() });
      this.#waiting = [];
      return undefined;
    }
    if (verb === 'still') return await this.#pays(this.#orderAt(number));
    if (verb === 'again') {
      const order = this.#orderAt(number);
      Object.assign(order.body, toFields(words.slice(1)), { updated_at: this.#tick() });
      return await this.#report(order);
    }
    if (verb === 'refund') {
      const [, amount, lines = '{}'] = words;
      const items = Object.entries(JSON.parse(lines)).map(([sku, refunded]) => ({ sku, amount: refunded }));
      const refund = { refund_id: unique('r'), amount: Number(amount), at: this.#tick(), items };
      await this.#ask('POST', `/v1/orders/${this.#orderAt(number).id}/refunds`, refund);
      return await this.#pays(this.#orderAt(number));
    }
    if (verb === verb.toUpperCase()) {
      const [path = '', body, , name] = words;
      const data = await this.#ask(verb, path, body === undefined ? undefined : JSON.parse(body));
      if (name !== undefined) this.#named.set(name, data.id);
      this.#tick();
      return undefined;
    }
    return await this.#report(this.#toOrder([verb, ...words]));
  }

  /** Lives through the lines; each says after `>` what is right. */
  async live(lines: readonly string[]): Promise<void> {
    const [got, right]: string[][] = [[], []];
    for (const line of lines) {
      const [told = '', wanted] = line.split(' > ');
      const paid = await this.#do(told);
      if (wanted !== undefined) {
        right?.push(`${told} > ${wanted}`);
        got?.push(`${told} > ${paid}`);
      }
    }
    expect(got).toEqual(right);
    const { db } = this.#stories.app.context.postgres;
    const { problems } = await inSnapshot(db, (trx) => verifyRecords(trx, this.#brandId));
    expect(problems).toEqual([]);
    const answer = await send(`${this.#stories.app.url}/v1/affiliates/simulate`, this.#nextKey(), 'POST', {
      rules: {},
    });
    expect([answer.body.meta?.changed, answer.body.data?.changed], 'today’s terms, simulated').toEqual([0, []]);
  }
}

export async function openStory(stories: Stories): Promise<Story> {
  const brand = await makeBrand(stories.app.context);
  return new Story(stories, brand.id, await keysInTurn(brand, 2));
}
