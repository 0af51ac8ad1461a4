import { loadSharp } from '../../kit/engines/thumbnail.ts';
import type { FilePart } from '../../kit/operation/upload.ts';

const WALLS = ['#f6e2d3', '#d6e6de', '#dee4f6', '#f7e9c8'];
const BOTTLES = ['#c4704a', '#5c8a78', '#626ea8', '#be9646'];
const CAP = '#3a3432';
const LABEL = '#faf8f4';

function drawBottle(n: number, count: number, colour: string): string {
  const [left, top] = [120 + 95 * (n - (count - 1) / 2), 150 + 40 * n];
  const height = 360 - top;
  return `<rect x="${left}" y="${top}" width="100" height="${height}" fill="${colour}"/>
    <rect x="${left}" y="${top}" width="100" height="${height}" fill="url(#shade)"/>
    <rect x="${left + 15}" y="${top + height * 0.45}" width="70" height="${height * 0.35}" fill="${LABEL}"/>
    <rect x="${left + 30}" y="${top - 36}" width="40" height="36" fill="${CAP}"/>`;
}

/** A still life: bottles on a table before a wall. Drawn, so that a sample has files without shipping any. */
function drawScene(seed: number): string {
  const count = 1 + (seed % 3);
  const bottles = Array.from({ length: count }, (_, n) => drawBottle(n, count, BOTTLES[(seed + n) % 4] ?? CAP));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="360" height="450">
    <linearGradient id="light" x2="0" y2="1"><stop stop-color="${LABEL}" stop-opacity="0.7"/>
      <stop offset="1" stop-color="${LABEL}" stop-opacity="0.1"/></linearGradient>
    <linearGradient id="shade"><stop offset="0.35" stop-color="${CAP}" stop-opacity="0"/>
      <stop offset="1" stop-color="${CAP}" stop-opacity="0.35"/></linearGradient>
    <rect width="360" height="450" fill="${WALLS[seed % 4]}"/>
    <rect width="360" height="340" fill="url(#light)"/>
    <rect y="340" width="360" height="110" fill="${CAP}" fill-opacity="0.15"/>
    ${bottles.reverse().join('')}</svg>`;
}

/** A picture as the part of a form that brings it. */
export const makePicture = (seed: number, filename: string): FilePart => ({
  field: 'file',
  filename,
  mimeType: 'image/png',
  bytes: (async function* bytes() {
    const sharp = await loadSharp();
    yield await sharp(Buffer.from(drawScene(seed)))
      .png()
      .toBuffer();
  })(),
});
