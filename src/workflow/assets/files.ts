import { randomBytes, timingSafeEqual } from 'node:crypto';
import { extname } from 'node:path';
import type { Context } from '../../kit/operation/context.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { keyedHash } from '../../kit/values/secrets.ts';
import type { AssetType } from './assets.ts';

/** Enough bytes to recognize any type. */
export const SAMPLE_BYTES = 16 * 1024;

export interface ContentType {
  type: AssetType;
  mimeType: string;
}

const DOCUMENTS =
  /^application\/(pdf|rtf|epub\+zip|x-cfb|msword|vnd\.(ms-(excel|powerpoint)|openxmlformats-officedocument|oasis\.opendocument|apple\.)[\w.-]*)/;
const PLAIN_TEXTS: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.srt': 'text/plain',
  '.vtt': 'text/vtt',
};
const EXTENSIONS: Readonly<Record<string, AssetType>> = {
  '.jpg': 'image',
  '.jpeg': 'image',
  '.png': 'image',
  '.gif': 'image',
  '.webp': 'image',
  '.avif': 'image',
  '.heic': 'image',
  '.tif': 'image',
  '.tiff': 'image',
  '.bmp': 'image',
  '.mp4': 'video',
  '.mov': 'video',
  '.webm': 'video',
  '.mkv': 'video',
  '.avi': 'video',
  '.m4v': 'video',
  '.mp3': 'audio',
  '.m4a': 'audio',
  '.wav': 'audio',
  '.aac': 'audio',
  '.flac': 'audio',
  '.ogg': 'audio',
  '.pdf': 'document',
  '.docx': 'document',
  '.xlsx': 'document',
  '.pptx': 'document',
  '.rtf': 'document',
};

/** Openings of files that a browser would run or render. */
const MARKUP = /^\s*(<\?xml|<!doctype|<!--|<(html|head|body|script|svg|iframe|math|style)\b)/i;

function classifyMimeType(mimeType: string): AssetType {
  // A vector image is a document that may carry scripts.
  if (mimeType === 'image/svg+xml') return 'other';
  if (DOCUMENTS.test(mimeType)) return 'document';
  const kind = mimeType.split('/', 1)[0];
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'other';
}

function isText(sample: Buffer): boolean {
  if (sample.includes(0)) return false;
  // The sample may end in the middle of a character.
  const text = new TextDecoder('utf-8').decode(sample, { stream: true });
  return !text.includes('�') && !MARKUP.test(text) && !text.startsWith('#!');
}

/**
 * Detects a file's type from its first bytes. The name only distinguishes kinds of plain text, whose bytes look alike.
 */
export async function detectContentType(sample: Buffer, filename: string): Promise<ContentType> {
  const { fileTypeFromBuffer } = await import('file-type');
  const fileType = await fileTypeFromBuffer(sample);
  if (fileType) return { type: classifyMimeType(fileType.mime), mimeType: fileType.mime };
  const plain = PLAIN_TEXTS[extname(filename).toLowerCase()];
  if (plain !== undefined && isText(sample)) return { type: 'document', mimeType: plain };
  return { type: 'other', mimeType: 'application/octet-stream' };
}

/** The same containers hold audio and video. */
const isMedia = (type: AssetType) => type === 'audio' || type === 'video';

/** Describes how a file's content contradicts its name; undefined if it does not. */
export function describeMismatch(content: ContentType, filename: string, mimeType: string): string | undefined {
  // The sender claims a type by the media type, or else by the name.
  let claim: AssetType | undefined = classifyMimeType(mimeType.toLowerCase());
  if (claim === 'other') {
    const isUnstated = /^(application\/octet-stream)?$/i.test(mimeType);
    claim = isUnstated ? EXTENSIONS[extname(filename).toLowerCase()] : undefined;
  }
  if (claim === undefined || claim === content.type) return undefined;
  if (isMedia(claim) && isMedia(content.type)) return undefined;
  return `is called ${claim}, and its content is ${content.mimeType}.`;
}

const MAY_SHOW = new Set(['image', 'video', 'audio']);

/** True if a browser may display it; anything else is downloaded, whatever type it claims. */
export const isShown = ({ type, mimeType }: ContentType): boolean =>
  MAY_SHOW.has(type) && classifyMimeType(mimeType) === type;

/** The storage key of a new file, in one of 256 × 256 folders, so that none is large. */
export function newStorageKey(): string {
  const name = randomBytes(16).toString('hex');
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`;
}

export const toThumbnailKey = (storageKey: string): string => `${storageKey}.webp`;

export type FileForm = 'original' | 'thumbnail';

interface FileToken {
  assetId: string;
  form: FileForm;
}

const MAC_BYTES = 16;
const TOKEN = /^(ast_\w{1,60})\.([ot])\.([0-9a-z]{1,10})\.([\w-]{22})$/;

function computeMac(secrets: Context['secrets'], payload: string): Buffer {
  return keyedHash(secrets.key('file'), payload).subarray(0, MAC_BYTES);
}

/**
 * The signed URL of an asset's file. It works for at least an hour and expires on the hour, so that it stays the same
 * for an hour and browsers can cache the file.
 */
export function signFileUrl(
  { config, secrets, clock }: Pick<Context, 'config' | 'secrets' | 'clock'>,
  token: FileToken,
) {
  const endsAtHour = Math.floor(clock.now().getTime() / HOUR_MS) + 2;
  const payload = `${token.assetId}.${token.form === 'original' ? 'o' : 't'}.${endsAtHour.toString(36)}`;
  return `${config.linksUrl}/files/${payload}.${computeMac(secrets, payload).toString('base64url')}`;
}

/** Undefined if the signature is wrong or the URL has expired. */
export function readFileToken(
  { secrets, clock }: Pick<Context, 'secrets' | 'clock'>,
  text: string,
): (FileToken & { endsAt: Date }) | undefined {
  const [, assetId, form, hour, mac] = TOKEN.exec(text) ?? [];
  if (assetId === undefined || form === undefined || hour === undefined || mac === undefined) return undefined;
  const signature = Buffer.from(mac, 'base64url');
  const own = computeMac(secrets, `${assetId}.${form}.${hour}`);
  if (signature.length !== MAC_BYTES || !timingSafeEqual(signature, own)) return undefined;
  const endsAt = new Date(Number.parseInt(hour, 36) * HOUR_MS);
  if (endsAt <= clock.now()) return undefined;
  return { assetId, form: form === 'o' ? 'original' : 'thumbnail', endsAt };
}
