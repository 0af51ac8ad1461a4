import { openConsumers } from '../../../src/interfaces/nouns.ts';
import { openRelay } from '../../../src/kit/outbox/relay.ts';
import { openDue } from '../../../src/kit/values/due.ts';
import { type Desk, openDesk } from '../affiliates/affiliates.ts';
import type { Answer, TestApp } from '../app.ts';
import { mailsOf, pathOf } from '../kit/mail.ts';
import { someAddress } from './applying.ts';

export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

export interface PageSeen {
  status: number;
  headers: Headers;
  text: string;
}

/** A brand that writes briefs and contracts, and what its creators do by the links that they are mailed. */
export interface WorkDesk extends Desk {
  contact: string;
  campaign: string;
  /** Somebody on the roster. */
  creator: string;
  post(path: string, body: object): Promise<Answer>;
  /** What a GET answers as `data`. */
  read(path: string): Promise<Answer['body']>;
  mails(): ReturnType<typeof mailsOf>;
  /** The newest mail's link to such a page. */
  linkTo(kind: 'brief' | 'sign' | 'work', to?: string): Promise<string>;
  open(link: string, headers?: Record<string, string>, method?: 'GET' | 'HEAD'): Promise<PageSeen>;
  /** Sends a page's form as a browser does; with files or `multipart` as such a form. */
  fill(link: string, fields: Record<string, string>, files?: readonly File[] | 'multipart'): Promise<PageSeen>;
  /** Events go to our own consumers, as a worker does it. */
  relay(): Promise<void>;
  events(): Promise<{ event: string; data: Answer['body'] }[]>;
}

async function seen(response: Response): Promise<PageSeen> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** For an app that is `BEHIND_PROXY`: each form comes from an address of its own. */
export async function openWorkDesk(app: TestApp, email?: string): Promise<WorkDesk> {
  const desk = await openDesk(app);
  const { brand, send } = desk;
  const contact = `team-${brand.id.toLowerCase()}@brand.example`;
  await send('PATCH', '/v1/brand', { contact_email: contact });
  const creator = await desk.onRoster(email);
  const campaign = (await send('POST', '/v1/campaigns', { name: 'Launch' })).body.data.id;
  const mails = () => mailsOf(app.context, brand.id);
  const urlOf = (link: string) => `${app.links}${link.startsWith('/') ? link : pathOf(link) + new URL(link).search}`;
  return {
    ...desk,
    ...{ contact, campaign, creator, mails },
    post: (path, body) => send('POST', path, body),
    read: async (path) => (await desk.get(path)).body.data,
    linkTo: async (kind, to = creator) => {
      const links = (await mails()).filter((mail) => mail.to === to).flatMap((mail) => mail.links);
      const link = links.find((one) => pathOf(one).startsWith(`/${kind}/`));
      if (link === undefined) throw new Error(`${to} was mailed no link to a ${kind} page.`);
      return link;
    },
    open: async (link, headers = {}, method = 'GET') =>
      seen(await fetch(urlOf(link), { method, headers: { 'user-agent': BROWSER, ...headers }, redirect: 'manual' })),
    fill: async (link, fields, files) => {
      const headers = { 'user-agent': BROWSER, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': someAddress() };
      const body = files ? new FormData() : new URLSearchParams();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      if (body instanceof FormData && Array.isArray(files)) for (const file of files) body.append('files', file);
      return seen(await fetch(urlOf(link), { method: 'POST', headers, body, redirect: 'manual' }));
    },
    relay: async () => {
      const { postgres, log, clock } = app.context;
      for (const consumer of openConsumers(app.context)) {
        if (consumer.name === 'briefs' || consumer.name === 'content')
          await openRelay({ db: postgres.db, consumer, log, due: openDue(clock) })();
      }
    },
    events: async () => (await desk.get('/v1/events?limit=100')).body.data,
  };
}
