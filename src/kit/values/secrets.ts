import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Config } from './config.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Keys for one purpose each, all derived from the installation's secret. */
export interface Secrets {
  /** 32 bytes for one purpose, such as `click`. The same on every process. */
  key(purpose: string): Buffer;
  /** The key for this purpose from the previous secret, while that is still known. */
  previousKey(purpose: string): Buffer | undefined;
  /** Encrypts what a database dump must not reveal. Opening it takes the same `context`, such as the row's id. */
  seal(value: string | Buffer, context: string): Buffer;
  /** Decrypts. Throws unless it was sealed with the current or the previous secret and for this context. */
  open(sealed: Buffer, context: string): string;
  /** Like `open`, for bytes that may not be text. */
  openBytes(sealed: Buffer, context: string): Buffer;
  /** The secret that it was sealed with. */
  stateOf(sealed: Buffer, context: string): 'current' | 'previous' | 'lost';
}

/** Caches derived keys: purposes are few, and a derivation costs as much as many hashes. */
function openKeys(secret: Buffer): (purpose: string) => Buffer {
  const keys = new Map<string, Buffer>();
  return (purpose) => {
    const derivedKey = keys.get(purpose) ?? Buffer.from(hkdfSync('sha256', secret, '', `rollcall ${purpose}`, 32));
    keys.set(purpose, derivedKey);
    return derivedKey;
  };
}

function openSealed(key: KeyObject, sealed: Buffer, context: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  // A shorter tag, as in a text that was cut, would be easier to forge.
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}

function opens(key: KeyObject, sealed: Buffer, context: string): boolean {
  try {
    openSealed(key, sealed, context);
    return true;
  } catch {
    return false;
  }
}

/** `previous` is the previous secret: what it sealed or signed stays valid until it is forgotten. */
export function openSecrets(secret: Buffer, previous?: Buffer): Secrets {
  const key = openKeys(secret);
  const previousKey = previous && openKeys(previous);
  const sealing = createSecretKey(key('seal'));
  const sealedBefore = previousKey && createSecretKey(previousKey('seal'));
  const stateOf: Secrets['stateOf'] = (sealed, context) => {
    if (opens(sealing, sealed, context)) return 'current';
    return sealedBefore && opens(sealedBefore, sealed, context) ? 'previous' : 'lost';
  };
  const openBytes: Secrets['openBytes'] = (sealed, context) => {
    const isBefore = sealedBefore && stateOf(sealed, context) === 'previous';
    return openSealed(isBefore ? sealedBefore : sealing, sealed, context);
  };
  return {
    key,
    previousKey: (purpose) => previousKey?.(purpose),
    seal: (value, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(context));
      const bytes = typeof value === 'string' ? cipher.update(value, 'utf8') : cipher.update(value);
      const last = cipher.final();
      return Buffer.concat([nonce, cipher.getAuthTag(), bytes, last]);
    },
    open: (sealed, context) => openBytes(sealed, context).toString('utf8'),
    openBytes,
    stateOf,
  };
}

/** Keys as OpenSSL has them: to prepare one costs three times as much as to hash a short text. */
const preparedKeys = new WeakMap<Buffer, KeyObject>();

/** A hash that recognises a value and cannot be brute-forced without the key, which must not change while it lives. */
export function keyedHash(key: Buffer, value: string | Buffer): Buffer {
  const preparedKey = preparedKeys.get(key) ?? createSecretKey(key);
  preparedKeys.set(key, preparedKey);
  return createHmac('sha256', preparedKey).update(value).digest();
}

const secretsFile = (config: Config) => path.join(config.directory, 'secret.hex');
const previousSecretsFile = (config: Config) => path.join(config.directory, 'secret.previous.hex');

/**
 * `ROLLCALL_SECRET`, or, with an embedded PostgreSQL, the secret that its first start wrote to the embedded folder.
 * Every process of an installation must have the same secret.
 */
export function readSecret(config: Config): Buffer {
  if (config.secret) return config.secret;
  if (config.urls.postgres) {
    throw new Error('Set ROLLCALL_SECRET to 64 hex digits (openssl rand -hex 32), the same for every process.');
  }
  const file = secretsFile(config);
  if (!existsSync(file)) {
    throw new Error(
      `The secret of this installation, ${file}, is missing, but its database exists. Restore the file from a backup, or ` +
        'set ROLLCALL_SECRET to its contents. Without it, encrypted data cannot be read. To keep the rest of the data, ' +
        `make a new secret (openssl rand -hex 32 > ${file}) and reconnect every store and webhook. To start over, ` +
        `remove ${path.join(config.directory, 'data')}.`,
    );
  }
  return wholeSecret(readFileSync(file, 'utf8'), file);
}

/** Creates the embedded folder's secret unless a database exists already, which needs the secret it was created with. */
export function makeSecretOnce(config: Config, hasDatabase: boolean): void {
  if (config.secret) return;
  const file = secretsFile(config);
  if (!hasDatabase && !existsSync(file)) makeSecret(file);
  readSecret(config);
}

/** An empty or truncated file would be a guessable key, and could not open sealed data. */
function wholeSecret(text: string, file: string): Buffer {
  if (/^[0-9a-f]{64}\s*$/i.test(text)) return Buffer.from(text.trim(), 'hex');
  throw new Error(
    `The secret in ${file} is incomplete: it must be 64 hex digits, but has ${text.trim().length} characters. ` +
      'Restore the file from a backup; without it, encrypted data cannot be read.',
  );
}

/** `ROLLCALL_PREVIOUS_SECRET`, or the previous secret in the embedded folder; undefined if it was never changed. */
export function readPreviousSecret(config: Config): Buffer | undefined {
  if (config.secret || config.urls.postgres) return config.previousSecret;
  const file = previousSecretsFile(config);
  return existsSync(file) ? wholeSecret(readFileSync(file, 'utf8'), file) : undefined;
}

/** The installation's keys, including those of the previous secret while it is known. */
export const readSecrets = (config: Config): Secrets => openSecrets(readSecret(config), readPreviousSecret(config));

/** Writes a new secret to the embedded folder; the current one becomes the previous one. */
export function replaceSecretFile(config: Config): void {
  readSecret(config);
  // A link, so that the file always exists: a process that starts in between would fail.
  const draft = `${secretsFile(config)}.${process.pid}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  rmSync(previousSecretsFile(config), { force: true });
  linkSync(secretsFile(config), previousSecretsFile(config));
  renameSync(draft, secretsFile(config));
  syncFolder(config.directory);
}

/** Removes the previous secret: data sealed and links signed with it stop working. */
export function forgetPreviousSecretFile(config: Config): void {
  rmSync(previousSecretsFile(config), { force: true });
}

/**
 * Writes the whole file before giving it its name: if several processes start at once, one wins and all read the same
 * secret.
 */
function makeSecret(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
    syncFolder(path.dirname(file));
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft);
  }
}

/** Syncs a folder: a power cut would otherwise lose a new file's name. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
