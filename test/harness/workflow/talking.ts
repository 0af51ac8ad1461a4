import { type Answer, call, made, makeBrand, send as sendTo, type TestApp, type TestBrand, unique } from '../app.ts';
import { mailsOf, pathOf } from '../kit/mail.ts';

/** A brand with one creator on its roster, and how they write to each other. */
export interface TalkDesk {
  brand: TestBrand;
  key: string;
  creator: string;
  write(input: object, headers?: Record<string, string>, creator?: string): Promise<Answer>;
  /** The list of conversations. */
  list(query?: string): Promise<Answer['body']>;
  thread(id: string, query?: string): Promise<Answer['body']>;
  /** The page that the newest mail leads to. */
  page(): Promise<string>;
}

export async function openTalkDesk(app: TestApp): Promise<TalkDesk> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const own = `${unique('ann')}@mail.example`;
  await made(`${app.url}/v1/roster`, key, { creator_email: own });
  const url = `${app.url}/v1/messages`;
  return {
    ...{ brand, key, creator: own },
    write: (input, headers = {}, creator = own) =>
      sendTo(url, key, 'POST', { creator_email: creator, ...input }, headers),
    list: async (query = '') => (await call(`${url}?${query}`, key)).body,
    thread: async (id, query = '') => (await call(`${url}/${id}?${query}`, key)).body.data,
    page: async () => {
      const [mail] = await mailsOf(app.context, brand.id);
      return `${app.links}${pathOf(mail?.links.find((link) => link.includes('/talk/')) ?? '')}`;
    },
  };
}

let turn = 0;

/** Sends a page's form as a browser does, from an address of its own. */
export async function reply(page: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  turn += 1;
  return await call(page, undefined, {
    method: 'POST',
    body: new URLSearchParams({ body }),
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `10.9.${turn >> 8}.${turn & 255}`, ...headers },
  });
}
