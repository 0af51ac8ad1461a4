import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

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
