import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ApiError, unavailable } from '../../values/errors.ts';
import { guardedAgents } from '../http/outside.ts';
import { createGuardedClient, type StoreLimits, withSignal } from './guarded-client.ts';
import { BucketRefusal, type ByteRange, type FileHeaders, type FileStore } from './store.ts';

/** Presigned URLs are followed at once, by a page's image or a redirected download. */
const SIGNED_FOR_SECONDS = 300;
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/** Not every S3-compatible storage supports the newer checksums. */
const LESS_CHECKSUMS = {
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

/** Of the installation's storage and of a brand's bucket. A part of a file of `PART_BYTES` passes at 70 kB/s. */
const LIMITS: StoreLimits = { connectMs: 5_000, wholeMs: 120_000, idleMs: 30_000 };

interface Bucket {
  name: string;
  /** Prefix of all keys, such as `rollcall/`; empty for the bucket's root. */
  prefix: string;
  client: S3Client;
}

/**
 * Parses `s3://bucket/prefix?endpoint=https://…&region=…`. Credentials before the bucket are the access key; without
 * them, the SDK looks for some.
 */
function parseBucket(address: string): Omit<Bucket, 'client'> & { client: S3ClientConfig } {
  const url = new URL(address);
  const endpoint = url.searchParams.get('endpoint');
  const credentials = {
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
  };
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  return {
    name: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    client: {
      region: url.searchParams.get('region') ?? 'us-east-1',
      ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
      ...(url.username === '' ? {} : { credentials }),
      ...LESS_CHECKSUMS,
    },
  };
}

const unavailableStore = (cause: unknown): ApiError =>
  cause instanceof ApiError ? cause : unavailable('The file storage', cause);

/** The storage serves its files itself. */
interface S3Store extends FileStore {
  presignAddress(key: string, headers: FileHeaders): Promise<string>;
}

/** Stores files in S3-compatible storage. */
export function openS3(address: string): S3Store {
  const { client, ...bucket } = parseBucket(address);
  return storeIn({ ...bucket, client: createGuardedClient(client, LIMITS) }, unavailableStore);
}

/** A bucket of a brand's own. */
export interface OwnBucket {
  bucket: string;
  /** Prefix of all keys, such as `rollcall/`; empty for the bucket's root. */
  prefix: string;
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

function toRefusal(cause: unknown): unknown {
  if (cause instanceof ApiError || cause instanceof BucketRefusal) return cause;
  const isRefused = cause instanceof S3ServiceException && (cause.$metadata.httpStatusCode ?? 500) < 500;
  return isRefused ? new BucketRefusal(`The bucket answered ${cause.name}.`) : unavailable('Your bucket', cause);
}

/** Stores files in a bucket that a brand named: only at an address that may be called, which is checked for this store. */
export async function openOwnBucket(own: OwnBucket, allow: readonly string[]): Promise<FileStore> {
  const url = new URL(own.endpoint);
  const agents = await guardedAgents(url, allow, LIMITS.connectMs);
  if ('refused' in agents) throw new BucketRefusal(`The endpoint ${agents.refused}.`);
  const { accessKeyId, secretAccessKey } = own;
  const config: S3ClientConfig = {
    region: own.region,
    endpoint: own.endpoint,
    forcePathStyle: true,
    maxAttempts: 2,
    credentials: { accessKeyId, secretAccessKey },
    ...LESS_CHECKSUMS,
  };
  const client = createGuardedClient(config, LIMITS, agents);
  // Its key may need no permission but to write, read and delete objects.
  return storeIn({ name: own.bucket, prefix: own.prefix, client }, toRefusal, { abortsUploads: false });
}

function storeIn(
  { name: Bucket, prefix, client }: Bucket,
  failureOf: (cause: unknown) => unknown,
  { abortsUploads } = { abortsUploads: true },
): S3Store {
  const locate = (key: string) => ({ Bucket, Key: `${prefix}${key}` });

  async function write(
    key: string,
    bytes: AsyncIterable<Buffer>,
    ContentType: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const params = { ...locate(key), Body: Readable.from(bytes, { objectMode: false }), ContentType };
    const upload = new Upload({ client, params, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE });
    const abort = () => void upload.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await withSignal(signal, () => upload.done());
    } catch (error) {
      throw failureOf(signal?.aborted ? signal.reason : error);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async function read(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const command = new GetObjectCommand({ ...locate(key), ...(Range ? { Range } : {}) });
    try {
      const { Body } = await withSignal(signal, () => client.send(command));
      if (Body instanceof Readable) return Body;
    } catch (error) {
      throw failureOf(error);
    }
    throw failureOf(new Error('The file storage answered without a body.'));
  }

  /** Removes the parts of broken uploads, which otherwise cost money for ever. */
  async function abortUploads(key: string): Promise<void> {
    const { Key } = locate(key);
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
    for (const { UploadId } of Uploads.filter((upload) => upload.Key === Key)) {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    }
  }

  async function remove(key: string, signal?: AbortSignal): Promise<void> {
    try {
      await withSignal(signal, async () => {
        if (abortsUploads) await abortUploads(key);
        await client.send(new DeleteObjectCommand(locate(key)));
      });
    } catch (error) {
      throw failureOf(error);
    }
  }

  async function presignAddress(key: string, { contentType, contentDisposition }: FileHeaders): Promise<string> {
    const command = new GetObjectCommand({
      ...locate(key),
      ResponseContentType: contentType,
      ResponseContentDisposition: contentDisposition,
    });
    return await getSignedUrl(client, command, { expiresIn: SIGNED_FOR_SECONDS });
  }

  return { write, read, remove, presignAddress };
}

export interface S3Object {
  size: number;
  /** Differs for different contents. */
  version: string;
  /** The bytes from `start` on. Throws SERVICE_UNAVAILABLE if the storage does not answer, or holds another version. */
  read(start: number): Promise<Readable>;
}

/**
 * Finds the object of `s3://bucket/key?endpoint=https://…&region=…`; undefined if there is none. The SDK looks for
 * credentials itself, such as in AWS_ACCESS_KEY_ID.
 */
export async function findS3Object(address: string): Promise<S3Object | undefined> {
  const { name: Bucket, client: config } = parseBucket(address);
  const client = createGuardedClient(config, LIMITS);
  const place = { Bucket, Key: decodeURIComponent(new URL(address).pathname.slice(1)) };
  const head = await client.send(new HeadObjectCommand(place)).catch((error: unknown) => {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
    throw unavailableStore(error);
  });
  if (!head) return undefined;
  const { ContentLength: size = 0, ETag } = head;
  return {
    size,
    version: ETag ?? `${head.LastModified?.getTime()}`,
    read: async (start) => {
      const Range = `bytes=${start}-`;
      const IfMatch = ETag === undefined ? {} : { IfMatch: ETag };
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...place, ...IfMatch, Range }));
        if (Body instanceof Readable) return Body;
      } catch (error) {
        throw unavailableStore(error);
      }
      throw unavailableStore(new Error('The file storage answered without a body.'));
    },
  };
}
