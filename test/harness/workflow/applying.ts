import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { eventNames } from '../../../src/kit/outbox/events.ts';
import { made, type TestApp } from '../app.ts';

/** For an app that is given addresses by a proxy: each test applies from its own, and is limited by itself. */
export const BEHIND_PROXY = { TRUSTED_PROXIES: '127.0.0.1' };

export const someAddress = () => `10.${[...randomBytes(3)].join('.')}`;

export interface FormAnswer {
  status: number;
  headers: Headers;
  page: string;
}

/** Sends the public form as a browser does; a redirect is not followed. */
export async function apply(
  app: TestApp,
  campaign: string,
  fields: Record<string, string>,
  address = someAddress(),
): Promise<FormAnswer> {
  const response = await fetch(`${app.url}/apply/${campaign}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { 'x-forwarded-for': address },
    redirect: 'manual',
  });
  return { status: response.status, headers: response.headers, page: await response.text() };
}

export async function makeCampaign(app: TestApp, key: string, fields: object = {}): Promise<string> {
  return (await made(`${app.url}/v1/campaigns`, key, { name: 'Launch', ...fields })).id;
}

/** The brand's events of the current interface in order, as they stand in the outbox. */
export async function listEvents({ context }: TestApp, brandId: string): Promise<{ event: string; data: unknown }[]> {
  const rows = await context.postgres.db
    .selectFrom('outbox')
    .select(['event', sql<string>`data::text`.as('json')])
    .where('brandId', '=', brandId)
    .where('event', 'in', eventNames('current'))
    .orderBy('seq')
    .execute();
  return rows.map(({ event, json }) => ({ event, data: JSON.parse(json) }));
}
