import { type Answer, call, keysInTurn, made, makeBrand, send, type TestApp, type TestBrand, unique } from '../app.ts';

/** A brand that assigns codes and links, by turns under many keys so that no rate ends a test. */
export interface Desk {
  brand: TestBrand;
  send(method: string, path: string, body?: object): Promise<Answer>;
  get(path: string, accept?: string): Promise<Answer>;
  /** An email address of somebody on the roster. */
  onRoster(email?: string): Promise<string>;
  /** A code or link that was made; of a creator of its own unless one is named. */
  made(input: object): Promise<Answer['body']>;
}

export const LINKS = '/v1/affiliates/links';
export const SHOP = 'https://shop.example/summer?x=1';
export const codeValue = () => unique('C').toUpperCase();
export const problemsOf = ({ body }: Pick<Answer, 'body'>): string[] =>
  body.details.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);

export const openDesk = async (app: TestApp): Promise<Desk> => await deskOf(app, await makeBrand(app.context));

export async function deskOf(app: TestApp, brand: TestBrand): Promise<Desk> {
  const nextKey = await keysInTurn(brand, 10);
  const onRoster = async (email = `${unique('ana')}@example.com`) => {
    await made(`${app.url}/v1/roster`, nextKey(), { creator_email: email });
    return email;
  };
  return {
    brand,
    onRoster,
    send: (method, path, body) => send(`${app.url}${path}`, nextKey(), method, body),
    get: (path, accept = 'application/json') => call(`${app.url}${path}`, nextKey(), { headers: { accept } }),
    made: async (input) => {
      const creator = 'creator_email' in input ? {} : { creator_email: await onRoster() };
      return await made(`${app.url}${LINKS}`, nextKey(), { ...creator, ...input });
    },
  };
}
