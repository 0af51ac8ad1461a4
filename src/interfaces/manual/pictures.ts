import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Html, html } from '../../kit/html/html.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
/** Matches the path of a picture from the folder of the project; its group is the name. */
export const PICTURE = /^docs\/pictures\/([a-z-]+\.webp)$/;

/** Reads a picture by its name in `docs/pictures`, which `npm run pictures` makes; undefined if there is none. */
export function readPicture(name: string): Buffer | undefined {
  const file = `docs/pictures/${name}`;
  return PICTURE.test(file) && existsSync(path.join(ROOT, file)) ? readFileSync(path.join(ROOT, file)) : undefined;
}

/** Pictures have one and a half pixels for each that the page gives them, and those of a phone two. */
export const DENSITY = { desktop: 1.5, phone: 2 };

/** Reads the size that a WebP picture without transparency has on a page; without it, text would jump when the picture comes. */
function describeSize(name: string, density: number): Html {
  const header = readPicture(name)?.subarray(0, 30);
  if (header?.toString('latin1', 12, 16) !== 'VP8 ') return html``;
  const [width, height] = [26, 28].map((at) => Math.round((header.readUInt16LE(at) & 0x3fff) / density));
  return html` width="${width ?? 0}" height="${height ?? 0}"`;
}

/** Shows a picture of the app as the reader's screen and colours have it. It opens in full size, because a phone shrinks it. */
export function renderPicture(base: string, alt: string): string {
  const variants = [
    { suffix: '-phone-dark', media: '(max-width: 34rem) and (prefers-color-scheme: dark)', density: DENSITY.phone },
    { suffix: '-phone', media: '(max-width: 34rem)', density: DENSITY.phone },
    { suffix: '-dark', media: '(prefers-color-scheme: dark)', density: DENSITY.desktop },
  ];
  const sources = variants
    .map(({ suffix, media, density }) => ({ name: `${base}${suffix}.webp`, media, density }))
    .filter(({ name }) => readPicture(name) !== undefined)
    .map(
      ({ name, media, density }) =>
        html`<source media="${media}" srcset="/manual/pictures/${name}"${describeSize(name, density)}>`,
    );
  const name = `${base}.webp`;
  return html`<a class="picture" href="/manual/pictures/${name}"><picture>${sources}<img src="/manual/pictures/${name}" alt="${alt}"${describeSize(name, DENSITY.desktop)}></picture></a>`
    .html;
}
