import { type Answer, call, makeBrand, send, type TestApp, type TestBrand } from '../app.ts';
import { listEvents } from '../workflow/applying.ts';
import { type Assignment, makeAssignment, makeSale, type Sale } from './sales.ts';

/** A brand that pays Ann. */
export interface Payer {
  app: TestApp;
  brand: TestBrand;
  key: string;
  ann: Assignment;
}

export async function makePayer(app: TestApp): Promise<Payer> {
  const brand = await makeBrand(app.context);
  return { app, brand, key: await brand.key('brand'), ann: await makeAssignment(app.context, brand) };
}

export const get = ({ app, key }: Payer, path: string): Promise<Answer> => call(`${app.url}${path}`, key);

export const post = ({ app, key }: Payer, body: object, headers: object = {}): Promise<Answer> =>
  send(`${app.url}/v1/payouts`, key, 'POST', body, headers);

export const settle = ({ app, key }: Payer, id: string, body: object = {}, headers: object = {}): Promise<Answer> =>
  send(`${app.url}/v1/payouts/${id}`, key, 'PATCH', { status: 'paid', ...body }, headers);

/** A payout to Ann that was recorded. */
export async function recorded(payer: Payer, body: object): Promise<Answer['body']> {
  const answer = await post(payer, { creator_email: payer.ann.email, method: 'manual', ...body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.data;
}

/** A sale of Ann's whose commission, of 10% by default, is approved. */
export async function approved(payer: Payer, options: Parameters<typeof makeSale>[2] = {}): Promise<Sale> {
  const sale = await makeSale(payer.app.context, payer.brand, { assignment: payer.ann, ...options });
  const url = `${payer.app.url}/v1/affiliates/commissions/${sale.id}`;
  const { status, body } = await send(url, payer.key, 'PATCH', { status: 'approved' });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return sale;
}

export const statusOf = async (payer: Payer, { id }: Sale): Promise<string> =>
  (await get(payer, `/v1/commissions/${id}`)).body.data.status;

export const codeOf = ({ status, body }: Answer) => [status, body.code];

export const problemsOf = ({ body }: Answer): string[][] =>
  body.details.map(({ field, code }: { [name: string]: string }) => [field, code]);

/** The commissions whose approval was sent to the brand. */
export async function approvalsOf(app: TestApp, brand: { id: string }): Promise<string[]> {
  const events = await listEvents(app, brand.id);
  return events.filter(({ event }) => event === 'commission.approved').map(({ data }) => Object(data).id);
}
