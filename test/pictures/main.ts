import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { readConfig } from '../../src/config.ts';
import { DENSITY } from '../../src/interfaces/manual/pictures.ts';
import { clientFolder, ensureClient } from '../../src/interfaces/web-app/build.ts';
import { executablePath as chromiumPath, USUAL_PLACES } from '../harness/kit/offers.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const MAX_BYTES = 60_000;
const PATIENCE_MS = 120_000;
const READY = /^\s+(http:\S+\/app\/sign-in#\S+)[\s\S]*Ctrl-C stops everything/m;

/** A picture of the manual, cut to the part of the app that the manual discusses there. */
interface Picture {
  name: string;
  page: string;
  /** Opens what the picture shows. */
  before?: (page: Page) => Promise<unknown>;
  /** An open dialog is the whole picture. */
  isDialog?: true;
  /** The window's width on a desktop, where the usual one cuts a column off. */
  width?: number;
  /** Pixels of the page from its title, or from the dialog's. */
  height: { desktop: number; phone: number };
}

const openFirst = async (page: Page) => await page.locator('tbody .link').first().click();

const PICTURES: readonly Picture[] = [
  { name: 'home', page: '/', height: { desktop: 860, phone: 620 } },
  { name: 'analytics', page: '/analytics', height: { desktop: 740, phone: 700 } },
  { name: 'directory', page: '/directory?q=skincare%20NYC', width: 1280, height: { desktop: 860, phone: 640 } },
  { name: 'creator', page: '/roster', before: openFirst, height: { desktop: 700, phone: 640 } },
  {
    name: 'campaign',
    page: '/campaigns',
    before: async (page) => await page.getByRole('link', { name: 'Barrier cream launch', exact: true }).first().click(),
    height: { desktop: 700, phone: 640 },
  },
  { name: 'applications', page: '/applications', height: { desktop: 560, phone: 600 } },
  { name: 'commissions', page: '/commissions', height: { desktop: 640, phone: 640 } },
  {
    name: 'order',
    page: '/orders?attributed=true',
    before: openFirst,
    isDialog: true,
    height: { desktop: 704, phone: 700 },
  },
];

/** Each picture is taken for a wide page and for a phone, with some space around the part, in both colours. */
const FORMS = [
  { form: 'desktop', suffix: '', width: 1160, margin: 16 },
  { form: 'phone', suffix: '-phone', width: 390, margin: 6 },
] as const;
const COLOURS = [
  { colorScheme: 'light', suffix: '' },
  { colorScheme: 'dark', suffix: '-dark' },
] as const;

/** A folder with the engines that are installed, and no data. */
async function openFolder(): Promise<string> {
  const installed = readConfig().directory;
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-pictures-'));
  // The engines run as another user.
  await chmod(folder, 0o755);
  const engines = (await readdir(installed)).filter((name) => /^(elasticsearch|postgres|valkey)-/.test(name));
  for (const name of engines) await symlink(path.join(installed, name), path.join(folder, name));
  return folder;
}

/** Starts the API with the sample brand; `link` signs in to its app. */
async function startSample(folder: string) {
  const env = { PATH: readConfig().java.searchPath, ROLLCALL_DIR: folder };
  const server = spawn(process.execPath, ['src/server.ts', '--port', '0'], { cwd: ROOT, env });
  let said = '';
  const link = await new Promise<string>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk);
      said += String(chunk);
      const [, found] = READY.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    server.once('exit', (status) => reject(new Error(`The server ended with ${status}.`)));
  });
  return {
    link,
    stop: () =>
      new Promise<void>((resolve) => {
        server.removeAllListeners('exit').once('exit', () => resolve());
        server.kill('SIGTERM');
      }),
  };
}

/** The picture as WebP, as good as fits. */
async function compress(png: Buffer): Promise<Buffer> {
  for (let quality = 85; ; quality -= 5) {
    const webp = await sharp(png).webp({ quality }).toBuffer();
    if (webp.length <= MAX_BYTES || quality <= 30) return webp;
  }
}

/** Waits until the page shows every answer. Throws if one is a failure, which belongs in no picture. */
async function rest(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.locator('main .loading').first().waitFor({ state: 'detached' });
  await page.locator('main .muted', { hasText: /^…$/ }).first().waitFor({ state: 'detached' });
  if ((await page.locator('.failure').count()) > 0) throw new Error(`${page.url()} shows a failure.`);
}

/** Makes the window end where the picture does, so that the foot of a list is in it, and returns the picture's place. */
async function place(
  page: Page,
  { isDialog, height }: Picture,
  width: number,
  { form, margin }: (typeof FORMS)[number],
) {
  const dialog = page.getByRole('dialog');
  const top = isDialog ? dialog : page.locator('main').locator('nav[aria-label="Section"], h1').first();
  const { y = 0 } = (await top.boundingBox()) ?? {};
  const from = Math.max(0, Math.floor(y) - (isDialog ? 0 : margin));
  await page.setViewportSize({ width, height: from + height[form] });
  const box = await (isDialog ? dialog : page.locator('main')).boundingBox();
  const padding = form === 'desktop' && !isDialog ? margin : 0;
  const x = Math.ceil(box?.x ?? 0) + padding;
  return { x, y: from, width: width - x - padding, height: height[form] };
}

async function takePictures(link: string, executablePath: string): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const options = { locale: 'en-GB', timezoneId: 'UTC' };
  try {
    const visitor = await browser.newContext(options);
    const signIn = await visitor.newPage();
    await signIn.goto(link);
    await signIn.getByRole('button', { name: 'Sign in', exact: true }).click();
    await signIn.getByRole('heading', { level: 1, name: 'Home', exact: true }).waitFor();
    const storageState = await visitor.storageState();
    for (const one of FORMS) {
      const context = await browser.newContext({ ...options, storageState, deviceScaleFactor: DENSITY[one.form] });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      for (const picture of PICTURES) {
        const width = one.form === 'desktop' ? (picture.width ?? one.width) : one.width;
        await page.setViewportSize({ width, height: 900 });
        await page.goto(new URL(`/app${picture.page}`, link).href);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await rest(page);
        await picture.before?.(page);
        await rest(page);
        const clip = await place(page, picture, width, one);
        await page.mouse.move(0, 0);
        for (const { colorScheme, suffix } of COLOURS) {
          await page.emulateMedia({ colorScheme });
          await rest(page);
          const webp = await compress(await page.screenshot({ animations: 'disabled', clip }));
          const file = `docs/pictures/${picture.name}${one.suffix}${suffix}.webp`;
          await writeFile(path.join(ROOT, file), webp);
          process.stdout.write(`${file} ${Math.ceil(webp.length / 1_000)} kB\n`);
        }
        await page.emulateMedia({ colorScheme: 'light' });
      }
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

if (!chromiumPath) throw new Error(`There is no Chromium in ${USUAL_PLACES.join(', ')}.`);
/** A sign-in link of a server with the sample brand that already runs. Without one, a server of its own is started. */
const [givenLink] = process.argv.slice(2);
if (givenLink !== undefined) {
  await takePictures(givenLink, chromiumPath);
} else {
  const folder = await openFolder();
  try {
    await ensureClient(folder, clientFolder(folder));
    const sample = await startSample(folder);
    try {
      await takePictures(sample.link, chromiumPath);
    } finally {
      await sample.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
