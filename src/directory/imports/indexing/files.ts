import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { ignoreFailure } from '../../../kit/values/errors.ts';

/** `-` stands for standard input. */
export const STDIN = '-';

/** A file that this machine does not have; another one may. */
export class MissingFile extends Error {}

/** The bytes of one source of an import. */
export interface SourceFile {
  size: number;
  /** Digest of the contents, independent of the name. */
  identity: string;
  open(): AsyncIterable<Buffer>;
}

const CHUNK_BYTES = 1 << 18;
const OPENING_BYTES = 1 << 20;
/** A broken download continues where it broke, this often. */
const ATTEMPTS = 4;

const isS3 = (file: string): boolean => file.startsWith('s3://');

/** The name that the format is recognized by. */
export const fileName = (file: string): string => path.basename(isS3(file) ? new URL(file).pathname : file);

/** The same file for a process with another working directory. */
export const absolute = (file: string): string => (file === STDIN || isS3(file) ? file : path.resolve(file));

/** Secrets in a URL would be stored with the import and shown in its status. */
function assertS3(file: string): void {
  const url = URL.parse(file);
  if (!url?.hostname || url.pathname.length <= 1) {
    throw new Error(`${file} names no object; it must be like s3://bucket/creators.ndjson.zst?region=eu-central-1.`);
  }
  if (url.username || url.password) {
    throw new Error(
      `s3://…@${url.hostname}${url.pathname} holds credentials, which would be stored with the import: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead.`,
    );
  }
}

async function describeObject(file: string): Promise<SourceFile> {
  assertS3(file);
  // The SDK takes a tenth of a second to load.
  const { findS3Object } = await import('../../../kit/engines/files/s3.ts');
  const object = await findS3Object(file);
  if (!object) throw new Error(`${file} does not exist.`);
  const { size, version } = object;
  return {
    size,
    identity: `${size} ${version}`,
    open: async function* () {
      let [position, failures] = [0, 0];
      while (position < size) {
        try {
          for await (const chunk of await object.read(position)) {
            position += chunk.length;
            yield chunk;
          }
          failures = 0;
        } catch (error) {
          failures += 1;
          if (failures >= ATTEMPTS) throw error;
        }
      }
    },
  };
}

async function describeLocal(file: string): Promise<SourceFile> {
  const stats = await stat(file).catch(ignoreFailure('the message below says it'));
  if (!stats?.isFile()) throw new MissingFile(`${file} is not a file that can be read.`);
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(OPENING_BYTES), 0, OPENING_BYTES, 0);
    const opening = createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex');
    return {
      size: stats.size,
      identity: `${stats.size} ${stats.mtimeMs} ${opening}`,
      open: () => createReadStream(file, { highWaterMark: CHUNK_BYTES }),
    };
  } finally {
    await handle.close();
  }
}

/** Finds a file on this machine or in S3. */
export const describeFile = (file: string): Promise<SourceFile> =>
  isS3(file) ? describeObject(file) : describeLocal(file);
