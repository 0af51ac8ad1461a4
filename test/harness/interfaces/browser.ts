import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { pageDeadlineMs } from '../../run/deadline.ts';
import { offered } from '../kit/offered.ts';
import { executablePath, USUAL_PLACES } from '../kit/offers.ts';
import { someAddress } from '../workflow/applying.ts';

/** Whether this machine has a browser; says once what is not tested without it. */
export function hasBrowser(what: string): boolean {
  if (!executablePath) process.stderr.write(`${what} is not tested: no Chromium in ${USUAL_PLACES.join(', ')}.\n`);
  return executablePath !== undefined;
}

/** A connection to the Chromium of this run; `close` closes what was opened through it, and no more. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.connect(await offered('browser'));
}

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
  page.setDefaultTimeout(pageDeadlineMs);
  page.on('console', (message) => {
    // A form that is refused is answered with a 4xx, which Chromium reports as a failed load.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  return page;
}
