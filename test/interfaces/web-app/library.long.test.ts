import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { axe, expectToFit, type OpenPage, openWebApp, shoot } from '../../harness/interfaces/web-app.ts';
import { builtClient } from '../../harness/kit/offered.ts';
import { file, upload } from '../../harness/platform/uploading.ts';

describe.skipIf(!hasBrowser('The content library in the web app'))('folders of the content library', () => {
  let app: TestApp;
  let brand: TestBrand;
  let key: string;
  let browser: Browser;
  let phone: OpenPage;

  beforeAll(async () => {
    app = await startApp({ webApp: await builtClient() });
    brand = await makeBrand(app.context);
    key = await brand.key('brand');
    for (const name of ['one', 'two', 'three']) await upload(app, key, file(`the file ${name}`, `${name}.txt`));
    browser = await openBrowser();
    phone = await openWebApp(browser, app, brand.id, { viewport: { width: 390, height: 844 }, hasTouch: true });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  async function clean(name: string): Promise<void> {
    const { page, complaints, rest } = phone;
    await rest();
    await shoot(page, name);
    await expectToFit(page);
    expect(await axe(page)).toEqual([]);
    expect(complaints.splice(0)).toEqual([]);
  }

  const folders = async () => (await call(`${app.url}/v1/assets/folders`, key)).body.data;
  const folder = async (name: string) => (await folders()).find((one: { name: string }) => one.name === name);

  async function makeFolder(name: string): Promise<void> {
    const { page } = phone;
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await clean(`folders-new-${name}`);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('link', { name: new RegExp(`^${name}`) }).waitFor();
  }

  it('are created within each other, and selected files are moved into one', async () => {
    const { page } = phone;
    await phone.go('/assets');
    await makeFolder('Summer');
    await page.getByRole('link', { name: /^Summer/ }).click();
    await page.getByText('No files here').waitFor();
    await makeFolder('Shoots');
    await page.getByRole('link', { name: 'All files' }).click();
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('one.txt').getByRole('checkbox').check();
    await row('two.txt').getByRole('checkbox').check();
    await clean('folders-chosen');
    await page.getByRole('button', { name: 'Move to a folder' }).click();
    await page.getByLabel('Folder', { exact: true }).selectOption({ label: 'Summer / Shoots' });
    await clean('folders-move');
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await page.getByText('2 files selected').waitFor({ state: 'hidden' });
    expect(await folder('Shoots')).toMatchObject({ asset_count: 2, parent_id: (await folder('Summer')).id });
    await page.getByRole('link', { name: /^Summer/ }).click();
    await page.getByRole('link', { name: /^Shoots 2/ }).click();
    await row('two.txt').waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
    await clean('folders-inside');
  });

  it('are renamed, moved and, once empty, deleted; a folder that is not empty explains its refusal', async () => {
    const { page } = phone;
    await phone.go(`/assets?folder=${(await folder('Shoots')).id}`);
    await page.getByRole('button', { name: 'Rename or move' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Studio');
    await page.getByLabel('Parent folder').selectOption({ label: 'No folder' });
    await clean('folders-rename');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Folder path').getByText('Studio').waitFor();
    expect(await folder('Studio')).toMatchObject({ parent_id: null });
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete the folder' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
    };
    await remove();
    await page.getByRole('alert').waitFor();
    await clean('folders-not-empty');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await phone.go(`/assets?folder=${(await folder('Summer')).id}`);
    await remove();
    await page.getByLabel('Folder path').getByText('All files').waitFor();
    await page.getByRole('link', { name: /^Studio 2/ }).waitFor();
    expect((await folders()).map(({ name }: { name: string }) => name)).toEqual(['Studio']);
  });

  it('receive files that are uploaded in them, and a file shows its folder', async () => {
    const { page } = phone;
    await phone.go('/assets');
    await page.getByRole('link', { name: /^Studio/ }).click();
    await page.getByRole('button', { name: 'Upload files' }).click();
    await page
      .getByLabel('Files', { exact: true })
      .setInputFiles({ name: 'four.txt', mimeType: 'text/plain', buffer: Buffer.from('the fourth') });
    await page.getByRole('button', { name: 'Upload 1 file' }).click();
    await page.getByText('1 file uploaded.').waitFor();
    await page.getByRole('button', { name: 'four.txt' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const select = page.getByLabel('Folder', { exact: true });
    await expect.poll(() => select.locator('option:checked').textContent()).toBe('Studio');
    await clean('folders-file');
    await select.selectOption({ label: 'No folder' });
    await page.getByRole('button', { name: 'Save' }).click();
    // While a dialog is open, what lies behind it has no role.
    await select.waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'four.txt' }).waitFor({ state: 'hidden' });
    expect(await folder('Studio')).toMatchObject({ asset_count: 2 });
  });
});
