import { createHash } from 'node:crypto';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The user "nobody", because PostgreSQL and Elasticsearch refuse to run as root. */
const UNPRIVILEGED = 65_534;

const runsAsRoot = process.getuid?.() === 0;

/** The user that engines run as, if it is not this process's user. */
export const engineUser = runsAsRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : undefined;

function isReachableByOthers(folder: string): boolean {
  const parent = path.dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isReachableByOthers(parent));
}

/** Another user could have created this folder in advance, so it is only used if it belongs to us. */
function openTemporaryFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const folderStats = lstatSync(folder);
  if (!folderStats.isDirectory() || folderStats.uid !== process.getuid?.()) {
    throw new Error(
      `${folder} belongs to another user; remove it, or set ROLLCALL_DIR to a folder that all users can enter.`,
    );
  }
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * The folder for installed engines and data: `directory`, or, if this is root and the unprivileged user cannot enter it
 * (a project in a closed home), a folder in the system's temporary one whose name is a hash.
 */
export function engineFolder(directory: string): string {
  mkdirSync(directory, { recursive: true });
  if (!runsAsRoot || isReachableByOthers(directory)) return directory;
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  return openTemporaryFolder(path.join(tmpdir(), `rollcall-${name}`));
}

function giveToEngine(file: string): void {
  if (engineUser) lchownSync(file, engineUser.uid, engineUser.gid);
}

/** Creates a folder that the engine's user can enter, whatever this process's umask. */
export function makeOpenFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  return folder;
}

/** Creates a folder that belongs to the engine's user. */
export function makeEngineFolder(folder: string, mode = 0o755): string {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, mode);
  giveToEngine(folder);
  return folder;
}

/** Replaces the file without following a link, because the folder belongs to a user with fewer rights. */
export function writeForEngine(file: string, content: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, content, { flag: 'wx' });
  giveToEngine(file);
}

/** Like `writeForEngine`, but atomic: the file always exists. */
export function replaceForEngine(file: string, content: string): void {
  writeForEngine(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

export function copyForEngine(from: string, to: string): void {
  writeForEngine(to, readFileSync(from, 'utf8'));
}
