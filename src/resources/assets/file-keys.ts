import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from '../../operation/context.ts';
import { HOUR_MS } from '../../values/duration.ts';

/** The storage key of a new file, in one of 256 × 256 folders, so that none is large. */
export function newStorageKey(): string {
  const name = randomBytes(16).toString('hex');
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`;
}

export const thumbnailKeyOf = (storageKey: string): string => `${storageKey}.webp`;

export type FileForm = 'original' | 'thumbnail';

interface FileToken {
  assetId: string;
  form: FileForm;
}

const MAC_BYTES = 16;
const TOKEN = /^(ast_\w{1,60})\.([ot])\.([0-9a-z]{1,10})\.([\w-]{22})$/;

function macOf(secrets: Context['secrets'], signed: string): Buffer {
  return createHmac('sha256', secrets.key('file')).update(signed).digest().subarray(0, MAC_BYTES);
}

/**
 * The signed URL of an asset's file. It works for at least an hour and expires on the hour, so that it stays the same
 * for an hour and browsers can cache the file.
 */
export function fileUrlOf({ config, secrets, clock }: Pick<Context, 'config' | 'secrets' | 'clock'>, token: FileToken) {
  const endsAtHour = Math.floor(clock.now().getTime() / HOUR_MS) + 2;
  const signed = `${token.assetId}.${token.form === 'original' ? 'o' : 't'}.${endsAtHour.toString(36)}`;
  return `${config.linksUrl}/files/${signed}.${macOf(secrets, signed).toString('base64url')}`;
}

/** Undefined if the signature is wrong or the URL has expired. */
export function readFileToken(
  { secrets, clock }: Pick<Context, 'secrets' | 'clock'>,
  text: string,
): (FileToken & { endsAt: Date }) | undefined {
  const [, assetId, form, hour, mac] = TOKEN.exec(text) ?? [];
  if (assetId === undefined || form === undefined || hour === undefined || mac === undefined) return undefined;
  const given = Buffer.from(mac, 'base64url');
  const own = macOf(secrets, `${assetId}.${form}.${hour}`);
  if (given.length !== MAC_BYTES || !timingSafeEqual(given, own)) return undefined;
  const endsAt = new Date(Number.parseInt(hour, 36) * HOUR_MS);
  if (endsAt <= clock.now()) return undefined;
  return { assetId, form: form === 'o' ? 'original' : 'thumbnail', endsAt };
}
