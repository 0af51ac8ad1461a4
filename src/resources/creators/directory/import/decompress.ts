import { pipeline, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const MAGIC_BYTES = 4;
const CHUNK_BYTES = 1 << 18;

function decoderFor(first: Buffer) {
  if (first.subarray(0, GZIP.length).equals(GZIP)) return createGunzip({ chunkSize: CHUNK_BYTES });
  if (first.subarray(0, ZSTD.length).equals(ZSTD)) return createZstdDecompress({ chunkSize: CHUNK_BYTES });
  return undefined;
}

/** The bytes of a stream, unpacked when its first ones are those of gzip or zstd. */
export async function* decompressed(input: Readable): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = input[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  while (first.length < MAGIC_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    first = Buffer.concat([first, next.value]);
  }
  async function* whole(): AsyncGenerator<Buffer> {
    if (first.length > 0) yield first;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  const decoder = decoderFor(first);
  if (!decoder) {
    yield* whole();
    return;
  }
  // A failure of the source destroys the decoder, and so ends the loop below with that error.
  pipeline(Readable.from(whole()), decoder, () => undefined);
  for await (const chunk of decoder) yield chunk;
}
