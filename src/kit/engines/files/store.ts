import type { Readable } from 'node:stream';

/** Both ends are inclusive, as in a Range header. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Response headers for a client that downloads the file from the store. */
export interface FileHeaders {
  contentType: string;
  contentDisposition: string;
}

/** Stores files: in S3-compatible storage, or in a local folder. An aborted `signal` ends a call at once. */
export interface FileStore {
  /** Writes all of the bytes under the key, or nothing. Rethrows what `bytes` throws. */
  write(key: string, bytes: AsyncIterable<Buffer>, contentType: string, signal?: AbortSignal): Promise<void>;
  /** The bytes of a file or of a range of it. */
  read(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;
  /** Removes a file and the remains of interrupted writes. Does nothing if the file does not exist. */
  remove(key: string, signal?: AbortSignal): Promise<void>;
  /** A presigned URL at the storage, valid for some minutes; undefined if this process serves the files itself. */
  presignAddress(key: string, headers: FileHeaders): Promise<string> | undefined;
}

/** A brand's bucket, or the address of its storage, refuses. The message is public. */
export class BucketRefusal extends Error {}
