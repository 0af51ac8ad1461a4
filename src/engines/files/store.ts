import type { Readable } from 'node:stream';

/** Both ends are included, as in a Range header. */
export interface ByteRange {
  start: number;
  end: number;
}

/** What the store says of a file to whoever fetches it there. */
export interface FileHeaders {
  contentType: string;
  contentDisposition: string;
}

/** Where files lie: S3-compatible storage, or a folder of this machine. */
export interface FileStore {
  /** Writes all of the bytes under the key, or nothing. What `bytes` throws is thrown on. */
  write(key: string, bytes: AsyncIterable<Buffer>, contentType: string): Promise<void>;
  /** The bytes of a file, or of a part of it. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Removes a file, and what a broken-off write left of it. One that is not there is removed already. */
  remove(key: string): Promise<void>;
  /** A signed address at the storage itself, good for some minutes; undefined where files are read from here. */
  addressOf(key: string, headers: FileHeaders): Promise<string> | undefined;
}
