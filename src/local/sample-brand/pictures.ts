import { crc32, deflateSync } from 'node:zlib';
import type { FilePart } from '../../operation/form-part.ts';

const WIDTH = 360;
const HEIGHT = 450;
type Colour = readonly [red: number, green: number, blue: number];

const WALLS: readonly Colour[] = [
  [246, 226, 211],
  [214, 230, 222],
  [222, 228, 246],
  [247, 233, 200],
];
const BOTTLES: readonly Colour[] = [
  [196, 112, 74],
  [92, 138, 120],
  [98, 110, 168],
  [190, 150, 70],
];
const CAP: Colour = [58, 52, 50];
const LABEL: Colour = [250, 248, 244];

const mixed = (one: Colour, other: Colour, share: number): Colour => [
  one[0] + (other[0] - one[0]) * share,
  one[1] + (other[1] - one[1]) * share,
  one[2] + (other[2] - one[2]) * share,
];

/** The colour of a point of a still life: bottles on a table before a wall. */
function colourAt(seed: number, x: number, y: number): Colour {
  const wall = WALLS[seed % WALLS.length] ?? LABEL;
  for (let n = 0; n <= seed % 3; n += 1) {
    const [left, top] = [120 + 95 * (n - (seed % 3) / 2), 150 + 40 * n];
    const [across, down] = [(x - left) / 100, (y - top) / (360 - top)];
    if (across >= 0 && across <= 1 && down >= 0 && down <= 1) {
      const isLabel = down > 0.45 && down < 0.8 && across > 0.15 && across < 0.85;
      const shade = mixed(BOTTLES[(seed + n) % BOTTLES.length] ?? CAP, CAP, Math.abs(across - 0.35) * 0.5);
      return isLabel ? LABEL : shade;
    }
    if (across > 0.3 && across < 0.7 && y < top && y > top - 36) return CAP;
  }
  return y > 340 ? mixed(wall, CAP, 0.12 + (y - 340) / 900) : mixed(wall, LABEL, 0.7 - y / 600);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A drawn photo as a PNG file, so that a sample has files without shipping any. */
function drawPicture(seed: number): Buffer {
  const rows = Buffer.alloc(HEIGHT * (1 + 3 * WIDTH));
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) rows.set(colourAt(seed, x, y), y * (1 + 3 * WIDTH) + 1 + 3 * x);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH, 0);
  head.writeUInt32BE(HEIGHT, 4);
  // 8 bits of red, green and blue.
  head.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A picture as the part of a form that brings it. */
export const pictureOf = (seed: number, filename: string): FilePart => ({
  ...{ field: 'file', filename, mimeType: 'image/png' },
  bytes: (async function* bytes() {
    yield drawPicture(seed);
  })(),
});
