import { createHash } from 'node:crypto';
import type { Stream } from './encoding.ts';
import { BrokenFile } from './problems.ts';
import type { ByteSource } from './shapes.ts';

export const MOST_BYTES = 200 * 1024 * 1024;

export interface Opened {
  /** The bytes of the table: text, in whatever encoding. */
  open: Stream;
  sha256: string;
  sheet: string | null;
  sheets: string[];
}

export const readAll = (source: ByteSource, range?: { start: number; end: number }): Stream =>
  async function* bytes() {
    yield* await source.read(range);
  };

/** Stops a stream that unpacks to more than a file may have. */
export function limit(open: Stream, most: number): Stream {
  return async function* limited() {
    let bytes = 0;
    for await (const chunk of open()) {
      bytes += chunk.length;
      if (bytes > most)
        throw new BrokenFile('too_large', `The file unpacks to more than ${Math.floor(most / 1_048_576)} MB.`);
      yield chunk;
    }
  };
}

export async function hashSource(source: ByteSource): Promise<{ sha256: string; head: Buffer }> {
  const hash = createHash('sha256');
  const head: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of await source.read()) {
    hash.update(chunk);
    if (length < 4_096) head.push(chunk);
    length += chunk.length;
  }
  return { sha256: hash.digest('hex'), head: Buffer.concat(head) };
}

/** Opens what a file contains. */
export async function openContainer(source: ByteSource, _sheet: string | undefined): Promise<Opened> {
  const { sha256 } = await hashSource(source);
  return { open: limit(readAll(source), MOST_BYTES), sha256, sheet: null, sheets: [] };
}
