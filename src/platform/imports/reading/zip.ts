import { pipeline } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import type { Stream } from './encoding.ts';
import { BrokenFile } from './problems.ts';
import type { ByteSource } from './shapes.ts';

export interface ZipEntry {
  name: string;
  method: number;
  packedBytes: number;
  bytes: number;
  offset: number;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES = 22;
const MOST_COMMENT = 65_535;
const MOST_DIRECTORY = 4 * 1024 * 1024;
const DEFLATED = 8;
const STORED = 0;
/** A size that stands in the 64-bit record instead, which files of this size never need. */
const ELSEWHERE = 0xffffffff;

const brokenArchive = () => new BrokenFile('damaged_file', 'The file is damaged: its archive cannot be read.');

async function readRange(source: ByteSource, start: number, end: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of await source.read({ start, end })) parts.push(chunk);
  return Buffer.concat(parts);
}

/** An archive's directory says what is in it, so that sizes are known before anything is unpacked. */
export async function readDirectory(source: ByteSource): Promise<ZipEntry[]> {
  const start = Math.max(0, source.sizeBytes - END_BYTES - MOST_COMMENT);
  const tail = await readRange(source, start, source.sizeBytes - 1);
  let end = tail.length - END_BYTES;
  while (end >= 0 && tail.readUInt32LE(end) !== END_SIGNATURE) end -= 1;
  if (end < 0) throw brokenArchive();
  const [size, offset] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (size > MOST_DIRECTORY || offset + size > source.sizeBytes) throw brokenArchive();
  if (size === 0) return [];
  return parseDirectory(await readRange(source, offset, offset + size - 1));
}

function parseDirectory(directory: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let at = 0;
  while (at + 46 <= directory.length && directory.readUInt32LE(at) === ENTRY_SIGNATURE) {
    const nameBytes = directory.readUInt16LE(at + 28);
    const rest = directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    const entry = {
      name: directory.toString('utf8', at + 46, at + 46 + nameBytes),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    };
    if (entry.bytes === ELSEWHERE || entry.packedBytes === ELSEWHERE) throw brokenArchive();
    entries.push(entry);
    at += 46 + nameBytes + rest;
  }
  return entries;
}

/** Unpacks one file of an archive. */
export function openEntry(source: ByteSource, entry: ZipEntry): Stream {
  return async function* unpacked() {
    const head = await readRange(source, entry.offset, entry.offset + 29);
    if (head.length < 30) throw brokenArchive();
    const start = entry.offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
    if (entry.packedBytes === 0) return;
    const packedBytes = await source.read({ start, end: start + entry.packedBytes - 1 });
    if (entry.method === STORED) yield* packedBytes;
    else if (entry.method === DEFLATED) yield* unpack(packedBytes, createInflateRaw());
    else throw brokenArchive();
  };
}

/** Runs bytes through a decompressor. */
export async function* unpack(
  packed: AsyncIterable<Uint8Array>,
  transform: NodeJS.ReadWriteStream & AsyncIterable<unknown>,
): AsyncGenerator<Uint8Array> {
  pipeline(packed, transform, () => undefined);
  try {
    for await (const chunk of transform) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    throw error instanceof BrokenFile ? error : brokenArchive();
  }
}
