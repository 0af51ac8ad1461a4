import type { Db } from '../../kit/engines/postgres/open.ts';
import { listForms } from '../../kit/values/email.ts';
import { foldAccents } from '../../kit/values/fold.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { type Hashes, type Kind, type Name, type NameFields, openHashes, TAG_BITS } from './hashes.ts';
import { findKey, type HashRow, listHashes, stateOfHashes } from './opt-out.ts';

/** The context under which the key is sealed. */
export const KEY_CONTEXT = 'directory forgotten';

/** The engines that looking up opt-outs needs. The secret is read only if there are any. */
export interface ForgetEngines {
  db: Db;
  secrets(): Secrets;
}

/** The creators who opted out, as a writer of the directory looks them up. */
export interface ForgottenSet {
  /** True if the creator of a row opted out. */
  has(row: NameFields): boolean;
  /** Reads the opt-outs since; returns whether there are any. */
  refresh(): Promise<boolean>;
}

interface LoadedHashes {
  hashes: Hashes;
  tags: Uint8Array<ArrayBuffer>;
  known: ReadonlySet<string>;
}

const hashKey = (kind: Kind, hash: Buffer) => `${kind}:${hash.toString('latin1')}`;

function load(hashes: Hashes, rows: readonly HashRow[]): LoadedHashes {
  const tags = new Uint8Array(2 ** (TAG_BITS - 3));
  for (const { tag } of rows) tags[tag >> 3] = (tags[tag >> 3] ?? 0) | (1 << (tag & 7));
  return { hashes, tags, known: new Set(rows.map(({ kind, hash }) => hashKey(kind, hash))) };
}

function isIn({ hashes, tags, known }: LoadedHashes, { pk, username, extracted_email: email }: NameFields): boolean {
  // The tags rule out almost every row; an HMAC for each would take a tenth of the time of an import.
  const mayBe = (tag: number) => ((tags[tag >> 3] ?? 0) & (1 << (tag & 7))) !== 0;
  const isKnown = (name: Name) => known.has(hashKey(name.kind, hashes.hashName(name)));
  if (mayBe(hashes.tagPk(pk)) && isKnown({ kind: 'pk', value: pk })) return true;
  if (mayBe(hashes.tagText('username', foldAccents(username))) && isKnown({ kind: 'username', value: username }))
    return true;
  if (email === null || email === undefined) return false;
  return listForms(email).some(
    (value) => mayBe(hashes.tagText('email', foldAccents(value))) && isKnown({ kind: 'email', value }),
  );
}

/** Opens the stored key of all hashes; undefined before anyone opted out. */
async function readHashes({ db, secrets }: ForgetEngines): Promise<Hashes | undefined> {
  const sealedKey = await findKey(db);
  return sealedKey && openHashes(secrets().openBytes(sealedKey, KEY_CONTEXT));
}

/** Reads who opted out; with `ids`, only these opt-outs. */
export async function openForgotten(engines: ForgetEngines, ids?: readonly string[]): Promise<ForgottenSet> {
  const { db } = engines;
  let state = '';
  let loadedHashes: LoadedHashes | undefined;

  async function refresh(): Promise<boolean> {
    const newState = await stateOfHashes(db);
    if (newState === state) return false;
    const rows = await listHashes(db, ids);
    const hashes = rows.length > 0 ? await readHashes(engines) : undefined;
    loadedHashes = hashes && load(hashes, rows);
    state = newState;
    return true;
  }

  await refresh();
  return { has: (row) => loadedHashes !== undefined && isIn(loadedHashes, row), refresh };
}
