import type { IncomingHttpHeaders } from 'node:http';
import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import type { Secrets } from '../../../kit/values/secrets.ts';
import { getClient } from '../formats/clients.ts';
import { parseDelivery } from '../formats/delivery-body.ts';
import type { PersonWish, Provider } from '../formats/provider.ts';
import { openStoreSecrets } from '../formats/store-secrets.ts';
import type { IntegrationRow } from './connections.ts';

/** A shop still asks to have its customers erased after it is disconnected: for so long the secret that signs that stays. */
const KEPT_MS = 90 * DAY_MS;

const sealingContext = (id: string): string => `parting ${id}`;

/** The columns that keep the signing secret of a store which passes on people's requests, and nothing else of its access. */
export async function readPartingColumns(
  { db, brandId, now }: Work,
  secrets: Secrets,
  { id, provider }: Pick<IntegrationRow, 'id' | 'provider'>,
) {
  const row = await db
    .selectFrom('integrations')
    .select('secrets')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  const { secrets: sealed } = row ?? {};
  if (provider !== 'shopify' || !sealed || sealed.length === 0) return {};
  try {
    const { webhookSecret } = openStoreSecrets(secrets, sealed, id);
    return {
      partingSecrets: secrets.seal(webhookSecret, sealingContext(id)),
      partingUntil: new Date(now.getTime() + KEPT_MS),
    };
  } catch {
    // A secret that was sealed under another one cannot be kept.
    return {};
  }
}

export interface PartingWish {
  store: { id: string; brandId: string; provider: Provider };
  wish: PersonWish;
}

/** Reads a request of a disconnected store for people; undefined unless its kept secret signed it. */
export async function readPartingWish(
  { db, secrets, now }: { db: Db; secrets: Secrets; now: Date },
  { provider, integration }: { provider: Provider; integration: string },
  { rawBody, headers }: { rawBody: Buffer; headers: IncomingHttpHeaders },
): Promise<PartingWish | undefined> {
  const row = await db
    .selectFrom('integrations')
    .select(['id', 'brandId', 'partingSecrets'])
    .where('id', '=', integration)
    .where('provider', '=', provider)
    .where('status', '=', 'disconnected')
    .where('partingUntil', '>', now)
    .executeTakeFirst();
  if (!row?.partingSecrets) return undefined;
  const client = getClient(provider);
  const { id, brandId, partingSecrets } = row;
  if (!client.verify(rawBody, headers, secrets.open(partingSecrets, sealingContext(id)))) return undefined;
  const wish = client.readWish?.({ headers, body: parseDelivery(rawBody) });
  return wish && { store: { id, brandId, provider }, wish };
}

/** Deletes kept secrets once their time is over. */
export const endParting = async (db: Db, now: Date) =>
  await sql`update integrations set parting_secrets = null, parting_until = null where parting_until <= ${now}`.execute(
    db,
  );
