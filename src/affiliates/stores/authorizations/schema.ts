import { z } from 'zod';
import { idField } from '../../../kit/values/fields.ts';
import { timestamp } from '../../../kit/values/page.ts';
import { WebAddress } from '../../../kit/values/web-address.ts';
import { StoreUrl } from '../connections/schema.ts';

const authorizationId = idField('sau', 'Id of the link.');

export const StoreAuthorize = z.object({
  url: StoreUrl.describe('Address of the WooCommerce store, such as https://shop.example.'),
  return_url: WebAddress.describe(
    'Where the store sends its owner afterwards, with `success` (1 or 0) and `user_id` (the id of the link) in the query.',
  ).meta({ example: 'https://app.example/app/stores' }),
});

export const StoreAuthorization = z
  .object({
    id: authorizationId,
    authorize_url: z
      .string()
      .describe('Page of the store on which its owner approves the access, signed in as an administrator.')
      .meta({ example: 'https://shop.example/wc-auth/v1/authorize?app_name=Rollcall&scope=read_write' }),
    expires_at: timestamp.describe('When the link stops working.').meta({ example: '2026-03-02T10:30:00.000Z' }),
  })
  .meta({ id: 'StoreAuthorization' });

/** What WooCommerce sends once its owner approved. */
export const HandedKeys = z.object({
  consumer_key: z.string().regex(/^[^\s:]{1,200}$/),
  consumer_secret: z.string().regex(/^[^\s:]{1,200}$/),
});
