import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { someAddress } from './applying.ts';

const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const executablePath = USUAL_PLACES.find((place) => existsSync(place));

/** Whether this machine has a browser; says once what is not tested without it. */
export function hasBrowser(what: string): boolean {
  if (!executablePath) process.stderr.write(`${what} is not tested: no Chromium in ${USUAL_PLACES.join(', ')}.\n`);
  return executablePath !== undefined;
}

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ ...(executablePath ? { executablePath } : {}), args: ['--no-sandbox'] });

/** A page on a phone, whose visitor has an address of their own. What the browser complains about is noted. */
export async function openPhone(
  browser: Browser,
  complaints: string[],
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await browser.newPage({
    viewport: { width: 360, height: 740 },
    extraHTTPHeaders: { 'x-forwarded-for': someAddress() },
    ...options,
  });
  page.on('console', (message) => {
    // A form that is refused is answered with a 4xx, which Chromium reports as a failed load.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  return page;
}
