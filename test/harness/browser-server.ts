import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { BrowserServer } from 'playwright-core';

/** The shell first: it takes a fifth of the CPU of a whole Chromium. */
export const USUAL_PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
export const executablePath = USUAL_PLACES.find((place) => existsSync(place));

async function launch(): Promise<BrowserServer> {
  const { chromium } = await import('playwright-core');
  return await chromium.launchServer({ ...(executablePath ? { executablePath } : {}), args: ['--no-sandbox'] });
}

/** One Chromium for the whole run: whoever asks at `url` is answered where it listens; it starts when the first asks. */
export async function offerBrowser(): Promise<{ url: string; close(): Promise<void> }> {
  let launched: Promise<BrowserServer> | undefined;
  const server = createServer((_request, response) => {
    launched ??= launch();
    launched.then(
      (browser) => response.end(browser.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await launched?.then((browser) => browser.close());
    },
  };
}
