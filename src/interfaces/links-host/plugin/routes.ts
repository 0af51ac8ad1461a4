import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { strToU8, zipSync } from 'fflate';
import { z } from 'zod';
import { toWebhookUrl } from '../../../affiliates/stores/connections/connections.shapes.ts';
import { findReceiver } from '../../../affiliates/stores/connections/connections.ts';
import { openAddressLimit } from '../../../kit/access/rate-limit.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { notFound } from '../../../kit/values/errors.ts';
import type { Metrics } from '../../../kit/values/metrics.ts';

const DOWNLOADS_PER_MINUTE = 30;
/** The time of the file in the archive, so that the same plugin is the same bytes. */
const MADE_AT = new Date('2026-01-01T00:00:00Z');

const File = z.string().regex(/^\w{1,100}\.zip$/);

/** Text within single quotes of PHP. */
const escapeQuotes = (text: string) => text.replace(/[\\']/g, '\\$&');

/** WordPress installs an archive with one folder of the plugin's name. */
function buildPlugin(source: string, values: Readonly<Record<string, string>>): Buffer {
  const php = source.replace(/\{\{(\w+)\}\}/g, (_all, name: string) => escapeQuotes(values[name] ?? ''));
  return Buffer.from(zipSync({ 'rollcall-for-woocommerce/rollcall.php': [strToU8(php), { mtime: MADE_AT }] }));
}

/** The WooCommerce plugin, filled in for one store. It holds nothing secret: the store's webhook address, and ours. */
export function pluginRoutes(
  app: FastifyInstance,
  { postgres, config, redis, clock }: Context,
  metrics: Metrics,
): void {
  const source = readFileSync(new URL('./rollcall.php', import.meta.url), 'utf8');
  const addresses = openAddressLimit(redis, clock, metrics, { name: 'plugin', limit: DOWNLOADS_PER_MINUTE });
  app.get<{ Params: { file: string } }>('/plugin/woocommerce/:file', async ({ params, ip }, reply) => {
    const refusal = await addresses.count(ip, (name, value) => void reply.header(name, value));
    if (refusal) throw refusal;
    const { data: file } = File.safeParse(params.file);
    const id = file?.slice(0, file.lastIndexOf('.'));
    const store = id === undefined ? undefined : await findReceiver(postgres.db, 'woocommerce', id);
    if (!store) throw notFound('integration');
    const { linksUrl } = config;
    return reply
      .headers({
        'content-disposition': 'attachment; filename="rollcall-for-woocommerce.zip"',
        'cache-control': 'no-store',
      })
      .type('application/zip')
      .send(buildPlugin(source, { links_url: linksUrl, webhook_url: toWebhookUrl(linksUrl, store) }));
  });
}
