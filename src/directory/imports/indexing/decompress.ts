import type { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/**
 * The magic number of a skippable zstd frame, with which `pzstd` begins a file; the lower half of the first byte
 * varies.
 */
const SKIPPABLE = Buffer.from([0x2a, 0x4d, 0x18]);
const MAGIC_BYTES = 4;
const CHUNK_BYTES = 1 << 18;

type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>;

function decoderFor(first: Buffer): Decoder | undefined {
  if (first.subarray(0, GZIP.length).equals(GZIP)) return createGunzip({ chunkSize: CHUNK_BYTES });
  const isSkippable = ((first[0] ?? 0) & 0xf0) === 0x50 && first.subarray(1, MAGIC_BYTES).equals(SKIPPABLE);
  if (isSkippable || first.subarray(0, ZSTD.length).equals(ZSTD)) {
    return createZstdDecompress({ chunkSize: CHUNK_BYTES });
  }
  return undefined;
}

/** Chunks. The last one can be put back. */
function openInput(input: Readable) {
  const chunks: AsyncIterator<Buffer> = input[Symbol.asyncIterator]();
  let heldChunk: Buffer | undefined;
  async function next(): Promise<Buffer | undefined> {
    const chunk = heldChunk ?? (await chunks.next()).value;
    heldChunk = undefined;
    return chunk;
  }
  return {
    next,
    giveBack: (chunk: Buffer) => {
      heldChunk = chunk;
    },
    /** The first bytes, enough to recognize the format; fewer at the end. */
    opening: async (): Promise<Buffer> => {
      let first = Buffer.alloc(0);
      while (first.length < MAGIC_BYTES) {
        const chunk = await next();
        if (!chunk) break;
        first = Buffer.concat([first, chunk]);
      }
      if (first.length > 0) heldChunk = first;
      return first;
    },
  };
}

type Input = ReturnType<typeof openInput>;

/**
 * Writes until the decoder leaves bytes over. Node's own decoder ends where a frame ends within a chunk, and drops the
 * rest.
 */
async function feed(decoder: Decoder, input: Input): Promise<void> {
  let givenBytes = 0;
  try {
    for (let chunk = await input.next(); chunk; chunk = await input.next()) {
      const part = chunk;
      await new Promise<void>((resolve, reject) => decoder.write(part, (error) => (error ? reject(error) : resolve())));
      givenBytes += chunk.length;
      const leftBytes = givenBytes - decoder.bytesWritten;
      if (leftBytes > 0) {
        input.giveBack(chunk.subarray(chunk.length - leftBytes));
        return;
      }
    }
    decoder.end();
  } catch (error) {
    // If the source fails, reading fails with the same error.
    decoder.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Zeros after the last frame are padding, as from a tape or `tar`. */
async function skipPadding(input: Input): Promise<void> {
  for (let chunk = await input.next(); chunk; chunk = await input.next()) {
    const start = chunk.findIndex((byte) => byte !== 0);
    if (start < 0) continue;
    input.giveBack(chunk.subarray(start));
    return;
  }
}

/**
 * The bytes of a stream, decompressed if it starts like gzip or zstd. A compressed file may consist of several, one
 * after the other; anything else between or after them is an error.
 */
export async function* decompress(stream: Readable): AsyncGenerator<Buffer> {
  const input = openInput(stream);
  let decoder = decoderFor(await input.opening());
  if (!decoder) {
    for (let chunk = await input.next(); chunk; chunk = await input.next()) yield chunk;
    return;
  }
  while (decoder) {
    const feeding = feed(decoder, input);
    for await (const chunk of decoder) yield chunk;
    await feeding;
    await skipPadding(input);
    const opening = await input.opening();
    decoder = decoderFor(opening);
    if (!decoder && opening.length > 0) throw new Error('uncompressed data follows the compressed data.');
  }
}
