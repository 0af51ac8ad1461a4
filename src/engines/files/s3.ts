import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ApiError, unavailable } from '../../values/errors.ts';
import type { ByteRange, FileHeaders, FileStore } from './store.ts';

/** Presigned URLs are followed at once, by a page's image or a redirected download. */
const SIGNED_FOR_SECONDS = 300;
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

interface Bucket {
  name: string;
  /** Prefix of all keys, such as `rollcall/`; empty for the bucket's root. */
  prefix: string;
  client: S3ClientConfig;
}

/**
 * Parses `s3://bucket/prefix?endpoint=https://…&region=…`. Credentials before the bucket are the access key; without
 * them, the SDK looks for some.
 */
function bucketOf(address: string): Bucket {
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
      // Not every S3-compatible storage supports the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    },
  };
}

const unavailableStore = (cause: unknown): ApiError =>
  cause instanceof ApiError ? cause : unavailable('The file storage', cause);

/** Stores files in S3-compatible storage. */
export function openS3(address: string): FileStore {
  const { name: Bucket, prefix, client: config } = bucketOf(address);
  const client = new S3Client(config);
  const placeOf = (key: string) => ({ Bucket, Key: `${prefix}${key}` });

  async function write(key: string, bytes: AsyncIterable<Buffer>, ContentType: string): Promise<void> {
    const params = { ...placeOf(key), Body: Readable.from(bytes, { objectMode: false }), ContentType };
    const upload = new Upload({ client, params, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE });
    try {
      await upload.done();
    } catch (error) {
      throw unavailableStore(error);
    }
  }

  async function read(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    try {
      const { Body } = await client.send(new GetObjectCommand({ ...placeOf(key), ...(Range ? { Range } : {}) }));
      if (Body instanceof Readable) return Body;
    } catch (error) {
      throw unavailableStore(error);
    }
    throw unavailableStore(new Error('The file storage answered without a body.'));
  }

  /** Removes the parts of broken uploads, which otherwise cost money for ever. */
  async function abortUploads(key: string): Promise<void> {
    const { Key } = placeOf(key);
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
    for (const { UploadId } of Uploads.filter((upload) => upload.Key === Key)) {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    }
  }

  async function remove(key: string): Promise<void> {
    try {
      await abortUploads(key);
      await client.send(new DeleteObjectCommand(placeOf(key)));
    } catch (error) {
      throw unavailableStore(error);
    }
  }

  async function addressOf(key: string, { contentType, contentDisposition }: FileHeaders): Promise<string> {
    const command = new GetObjectCommand({
      ...placeOf(key),
      ResponseContentType: contentType,
      ResponseContentDisposition: contentDisposition,
    });
    return await getSignedUrl(client, command, { expiresIn: SIGNED_FOR_SECONDS });
  }

  return { write, read, remove, addressOf };
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
  const { name: Bucket, client: config } = bucketOf(address);
  const client = new S3Client(config);
  const place = { Bucket, Key: decodeURIComponent(new URL(address).pathname.slice(1)) };
  const found = await client.send(new HeadObjectCommand(place)).catch((error: unknown) => {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
    throw unavailableStore(error);
  });
  if (!found) return undefined;
  const { ContentLength: size = 0, ETag } = found;
  return {
    size,
    version: ETag ?? `${found.LastModified?.getTime()}`,
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
