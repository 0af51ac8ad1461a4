import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { BrowserServer } from 'playwright-core';
import { readConfig } from '../../../src/config.ts';
import { ensureClient } from '../../../src/interfaces/web-app/build.ts';

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

/** What a run has once: where its Chromium listens, and the folder of the web app's built client. */
export type OfferName = 'browser' | 'client';

/** Each is made when the first test asks for it at `url`, with its name as the path; whoever asks is answered with it. */
export async function openOffers(): Promise<{ url: string; close(): Promise<void> }> {
  let browser: Promise<BrowserServer> | undefined;
  let client: Promise<string> | undefined;
  const makers: Record<string, () => Promise<string>> = {
    '/browser': async () => {
      browser ??= launch();
      return (await browser).wsEndpoint();
    },
    '/client': async () => {
      client ??= ensureClient(readConfig().directory);
      return await client;
    },
  };
  const server = createServer((request, response) => {
    const make = makers[request.url ?? ''] ?? (() => Promise.reject(new Error(`${request.url} is not offered.`)));
    make().then(
      (made) => response.end(made),
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
      await browser?.then((launched) => launched.close());
    },
  };
}
