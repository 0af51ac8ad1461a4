import type { Readable } from 'node:stream';
import { unavailable } from '../values/errors.ts';

const WIDTH = 480;
/** A small file may decompress to an image that fills the memory. */
const MAX_PIXELS = 50_000_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Loads sharp for the first image, so that a process without images starts even where it is not installed. */
export async function loadSharp() {
  const { default: sharp } = await import('sharp').catch((error: unknown) => {
    throw unavailable('The image library', error);
  });
  // One thread, so that redirects on the same machine are not slowed down.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

export interface Thumbnail {
  webp: Buffer;
  /** Width of the original image in its upright orientation. */
  width: number;
  height: number;
}

async function readAll(bytes: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`The image is larger than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Makes a thumbnail at most 480 pixels wide, upright, without the camera's metadata. Throws if sharp cannot read the
 * image.
 */
export async function createThumbnail(bytes: Readable): Promise<Thumbnail> {
  const sharp = await loadSharp();
  const image = sharp(await readAll(bytes), { limitInputPixels: MAX_PIXELS, failOn: 'error' });
  const { autoOrient } = await image.metadata();
  const webp = await image
    .autoOrient()
    .resize({ width: WIDTH, withoutEnlargement: true })
    .webp({ quality: 80 })
    .toBuffer();
  return { webp, width: autoOrient.width, height: autoOrient.height };
}
