import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { readConfig } from '../../src/config.ts';
import { clientFolder, ensureClient } from '../../src/interfaces/web-app/build.ts';
import { executablePath as chromiumPath, USUAL_PLACES } from '../harness/kit/offers.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const MAX_BYTES = 60_000;
const READY = /^\s+(http:\S+\/app\/sign-in#\S+)[\s\S]*Ctrl-C stops everything/m;

/** Each picture of the manual: the page of the app that it shows, and what is done there first. */
const PICTURES: readonly { name: string; page: string; before?: (page: Page) => Promise<unknown> }[] = [
  { name: 'analytics', page: '/analytics' },
  { name: 'directory', page: '/directory?q=skincare%20NYC' },
  { name: 'applications', page: '/applications' },
  { name: 'commissions', page: '/commissions' },
  {
    name: 'order',
    page: '/orders?attributed=true',
    before: async (page) => await page.locator('tbody .link').first().click(),
  },
];

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

async function takePictures(link: string, executablePath: string): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', timezoneId: 'UTC' });
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Home', exact: true }).waitFor();
    for (const { name, page: address, before } of PICTURES) {
      await page.goto(new URL(`/app${address}`, link).href);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      await before?.(page);
      await page.waitForLoadState('networkidle');
      await page.mouse.move(0, 0);
      const webp = await compress(await page.screenshot({ animations: 'disabled' }));
      await writeFile(path.join(ROOT, `docs/pictures/${name}.webp`), webp);
      process.stdout.write(`docs/pictures/${name}.webp ${Math.ceil(webp.length / 1_000)} kB\n`);
    }
  } finally {
    await browser.close();
  }
}

if (!chromiumPath) throw new Error(`There is no Chromium in ${USUAL_PLACES.join(', ')}.`);
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
