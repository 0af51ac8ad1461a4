import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
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

/** Keys for one purpose each, all derived from the installation's one secret. */
export interface Secrets {
  /** 32 bytes for one purpose, such as `click`. The same on every process. */
  key(purpose: string): Buffer;
  /** The same under the secret before this one, while that is still known. */
  previousKey(purpose: string): Buffer | undefined;
  /** Encrypts what must not be read from a dump; `context` (such as the row's id) must be the same to open it. */
  seal(text: string, context: string): Buffer;
  /** Throws when it was not sealed under this secret or the one before, and for this context. */
  open(sealed: Buffer, context: string): string;
  /** Under which secret it was sealed. */
  stateOf(sealed: Buffer, context: string): 'current' | 'previous' | 'lost';
}

const deriveKey = (secret: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', `rollcall ${purpose}`, 32));

/** Purposes are few, and a derivation takes as long as many hashes under its key. */
function openKeys(secret: Buffer): (purpose: string) => Buffer {
  const keys = new Map<string, Buffer>();
  return (purpose) => {
    const derived = keys.get(purpose) ?? deriveKey(secret, purpose);
    keys.set(purpose, derived);
    return derived;
  };
}

function openSealed(key: Buffer, sealed: Buffer, context: string): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
  const bytes = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return bytes.toString('utf8');
}

function opens(key: Buffer, sealed: Buffer, context: string): boolean {
  try {
    openSealed(key, sealed, context);
    return true;
  } catch {
    return false;
  }
}

/** `previous` is the secret before this one: what it sealed and signed is good until it is forgotten. */
export function openSecrets(secret: Buffer, previous?: Buffer): Secrets {
  const key = openKeys(secret);
  const previousKey = previous && openKeys(previous);
  const sealing = key('seal');
  const stateOf: Secrets['stateOf'] = (sealed, context) => {
    if (opens(sealing, sealed, context)) return 'current';
    return previousKey && opens(previousKey('seal'), sealed, context) ? 'previous' : 'lost';
  };
  return {
    key,
    previousKey: (purpose) => previousKey?.(purpose),
    seal: (text, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(context));
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), bytes]);
    },
    open: (sealed, context) => {
      const before = previousKey && stateOf(sealed, context) === 'previous' ? previousKey('seal') : sealing;
      return openSealed(before, sealed, context);
    },
    stateOf,
  };
}

/** A hash that tells the same value again and cannot be tried out without the key. */
export function keyedHash(key: Buffer, value: string): Buffer {
  return createHmac('sha256', key).update(value).digest();
}

const fileOf = (config: Config) => path.join(config.directory, 'secret.hex');
const previousFileOf = (config: Config) => path.join(config.directory, 'secret.previous.hex');

/**
 * `ROLLCALL_SECRET`, or, beside an embedded PostgreSQL, the one that its first start made in the embedded folder.
 * Every process of an installation must have the same.
 */
export function readSecret(config: Config): Buffer {
  if (config.secret) return config.secret;
  if (config.urls.postgres) {
    throw new Error('Set ROLLCALL_SECRET to 64 hex digits (openssl rand -hex 32), the same for every process.');
  }
  const file = fileOf(config);
  if (!existsSync(file)) {
    throw new Error(
      `The secret of this installation, ${file}, is missing beside its database. Restore the file from a backup, or set ` +
        'ROLLCALL_SECRET to what it held. Without it nothing that was sealed opens again: to go on with the data all the ' +
        `same, make a new one (openssl rand -hex 32 > ${file}) and connect every store and webhook anew; to start over, ` +
        `remove ${path.join(config.directory, 'data')}.`,
    );
  }
  return wholeSecret(readFileSync(file, 'utf8'), file);
}

/** Makes the embedded folder's secret before there is a database; beside one that is there it must be there, too. */
export function makeSecretOnce(config: Config, hasDatabase: boolean): void {
  if (config.secret) return;
  const file = fileOf(config);
  if (!hasDatabase && !existsSync(file)) makeSecret(file);
  readSecret(config);
}

/** An empty or cut file would be a key that everybody can guess, and would open nothing that was sealed before. */
function wholeSecret(text: string, file: string): Buffer {
  if (/^[0-9a-f]{64}\s*$/i.test(text)) return Buffer.from(text.trim(), 'hex');
  throw new Error(
    `The secret in ${file} is not whole: it must be 64 hex digits, and has ${text.trim().length} characters. ` +
      'Restore the file from a backup; what was sealed under it cannot be opened otherwise.',
  );
}

/** `ROLLCALL_PREVIOUS_SECRET`, or the one that the embedded folder had before; undefined when it was never changed. */
export function readPreviousSecret(config: Config): Buffer | undefined {
  if (config.secret || config.urls.postgres) return config.previousSecret;
  const file = previousFileOf(config);
  return existsSync(file) ? wholeSecret(readFileSync(file, 'utf8'), file) : undefined;
}

/** The installation's keys, with those of the secret before where it is still known. */
export const readSecrets = (config: Config): Secrets => openSecrets(readSecret(config), readPreviousSecret(config));

/** Makes a new secret in the embedded folder; the one until now becomes the previous one. */
export function replaceSecretFile(config: Config): void {
  readSecret(config);
  // A link, so that at no moment there is none: a start in between would be refused.
  const draft = `${fileOf(config)}.${process.pid}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  rmSync(previousFileOf(config), { force: true });
  linkSync(fileOf(config), previousFileOf(config));
  renameSync(draft, fileOf(config));
  syncFolder(config.directory);
}

/** From here on nothing opens that only the previous secret sealed or signed. */
export function forgetPreviousSecretFile(config: Config): void {
  rmSync(previousFileOf(config), { force: true });
}

/** Written whole before it has its name: of several processes that start at once one wins, and all read the same. */
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

/** A name that is not on the disk is lost with the power, whatever the file holds. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
