import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

/** From another page: one of the app's own would go to sign in by itself at the same moment. */
async function forgetSession(page: Page): Promise<void> {
  await page.goto('about:blank');
  await page.context().clearCookies();
}

describe.skipIf(!hasBrowser('Passkeys'))('a passkey in a real Chromium', () => {
  let app: TestApp;
  let brand: TestBrand;
  let browser: Browser;

  beforeAll(async () => {
    const started = await startApp({ webApp: await builtClient() });
    // A passkey belongs to a name, never to an address of numbers.
    app = { ...started, url: started.url.replace('127.0.0.1', 'localhost') };
    brand = await makeBrand(app.context);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('is added, signs in without a link, and no longer signs in once it is removed', async () => {
    const { page, go, complaints, context } = await openWebApp(browser, app, brand.id);
    const debug = await context.newCDPSession(page);
    await debug.send('WebAuthn.enable');
    const { authenticatorId } = await debug.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
        ...{ isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    await go('/settings?tab=signing-in');
    await page.getByLabel('Passkey name').fill('my laptop');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('cell', { name: 'my laptop' }).waitFor();
    await expect.poll(() => page.getByLabel('Passkey name').inputValue()).toBe('');
    expect((await debug.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toHaveLength(1);
    await shoot(page, 'passkey-added');
    expect(await axe(page)).toEqual([]);

    await forgetSession(page);
    await page.goto(`${app.url}/app/sign-in`);
    await shoot(page, 'passkey-sign-in');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    await go('/settings?tab=signing-in');
    await page.getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove my laptop?' });
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('cell', { name: 'my laptop' }).waitFor({ state: 'hidden' });

    await forgetSession(page);
    await page.goto(`${app.url}/app/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('This passkey was not accepted');
    expect(complaints).toEqual([]);
    await context.close();
  });
});
