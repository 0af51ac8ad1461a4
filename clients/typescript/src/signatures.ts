/** The headers of a delivery: `request.headers` of Node, of fetch, or of a framework. */
export type DeliveryHeaders =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** The only error of `verifyWebhook`: the secret passed to it is not one. */
export class WebhookSecretError extends Error {
  constructor() {
    super('The secret of a webhook is `whsec_` followed by base64, as POST /v1/webhooks answered it.');
    this.name = 'WebhookSecretError';
  }
}

const TOLERANCE_S = 300;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  if (base64 === '' || !BASE64.test(base64)) return undefined;
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

function headerOf(headers: DeliveryHeaders, name: string): string {
  if (typeof headers !== 'object' || headers === null) return '';
  const own: unknown =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value: unknown = Array.isArray(own) && own.length === 1 ? own[0] : own;
  return typeof value === 'string' ? value : '';
}

/** The bytes that are signed: `{webhook-id}.{webhook-timestamp}.{body}`. */
function signedBytes(start: string, payload: string | Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const encoder = new TextEncoder();
  const body = typeof payload === 'string' ? encoder.encode(payload) : payload;
  if (!(body instanceof Uint8Array)) return undefined;
  const head = encoder.encode(start);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

/**
 * Whether a delivery was signed with the webhook's secret and is not older than five minutes; false for any other
 * request, however malformed. `payload` is the raw body, before it is parsed. Throws `WebhookSecretError` for a `secret`
 * that is not one.
 */
export async function verifyWebhook(
  secret: string,
  payload: string | Uint8Array,
  headers: DeliveryHeaders,
): Promise<boolean> {
  const key = typeof secret === 'string' ? bytesOf(secret.replace(/^whsec_/, '')) : undefined;
  if (!key) throw new WebhookSecretError();
  const at = headerOf(headers, 'webhook-timestamp');
  if (!/^\d{1,15}$/.test(at) || Math.abs(Date.now() / 1_000 - Number(at)) > TOLERANCE_S) return false;
  const signed = signedBytes(`${headerOf(headers, 'webhook-id')}.${at}.`, payload);
  if (!signed) return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const signer = await crypto.subtle.importKey('raw', key, algorithm, false, ['verify']);
  for (const one of headerOf(headers, 'webhook-signature').split(' ')) {
    const [version, value = ''] = one.split(',');
    const signature = bytesOf(value);
    if (version === 'v1' && signature && (await crypto.subtle.verify('HMAC', signer, signature, signed))) return true;
  }
  return false;
}

/** Returns true if `X-Service-Signature` is of this body. It has no time, so a delivery that is sent again is genuine, too. */
export async function verifyDigest(secret: string, payload: string | Uint8Array, signature: string): Promise<boolean> {
  const signed = signedBytes('', payload);
  const digest = /^sha256=([0-9a-f]{64})$/.exec(signature.trim())?.[1];
  if (typeof secret !== 'string' || secret === '' || !signed || digest === undefined) return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = new TextEncoder().encode(secret);
  const signer = await crypto.subtle.importKey('raw', key, algorithm, false, ['verify']);
  const bytes = Uint8Array.from(digest.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return await crypto.subtle.verify('HMAC', signer, bytes, signed);
}
