import { z } from 'zod';
import {
  AppRefused,
  type NewToken,
  parseJson,
  readAnswer,
  requestStore,
  type StoreAccess,
  type StoreApp,
  storeUnavailable,
} from './provider.ts';

const PATH = '/admin/oauth/access_token';
const TokenGrant = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/** Patterns of Shopify's refusals, in JSON or on an HTML page; the first match counts. */
const REFUSALS: readonly (readonly [RegExp, AppRefused['field'], string])[] = [
  [
    /shop_not_permitted/,
    'client_id',
    "is of an app of another organization. The app must belong to the shop's organization: create it in the Dev Dashboard while you are signed in as the shop's owner.",
  ],
  [
    /app_not_installed|not installed/i,
    'client_id',
    'is of an app that is not installed in this shop. Open the app in the Dev Dashboard and install it.',
  ],
  [
    /invalid_client|client[ _]secret/i,
    'client_secret',
    "is not the app's. Copy the secret that the Dev Dashboard shows under the app's Settings; one that was rotated no longer works.",
  ],
  [
    /application_cannot_be_found|could not find|api_key|client[ _]id/i,
    'client_id',
    "is of no app. Copy the client ID that the Dev Dashboard shows under the app's Settings.",
  ],
];

const OTHERWISE = [
  'client_id',
  "is refused. The app must belong to the shop's organization and be installed in the shop; the client ID and secret are shown under its Settings in the Dev Dashboard.",
] as const;

/** Requests a token by the client credentials grant, which Shopify supports for apps of the shop's own organization. */
export async function newShopifyToken(
  place: Pick<StoreAccess, 'baseUrl' | 'allow'>,
  { id, secret }: StoreApp,
): Promise<NewToken> {
  const request = { method: 'POST', path: PATH } as const;
  const body = { client_id: id, client_secret: secret, grant_type: 'client_credentials' };
  const answer = await requestStore(place, { ...request, body });
  if ([400, 401, 403].includes(answer.status)) {
    const refusal = REFUSALS.find(([pattern]) => pattern.test(answer.text));
    const [, field, message] = refusal ?? [undefined, ...OTHERWISE];
    throw new AppRefused(field, message);
  }
  if (answer.status !== 200) throw storeUnavailable(new Error(`It answered ${answer.status}.`));
  const { access_token: token, expires_in } = readAnswer(request, TokenGrant, parseJson(answer.text));
  return { token, expiresInMs: expires_in * 1_000 };
}
