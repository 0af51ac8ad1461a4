import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRIES, SUBSHELVES } from '../../../src/interfaces/manual/shelves.ts';
import { RETRY_POLICY } from '../../../src/platform/webhooks/health.ts';
import { startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const read = async (path: string) => await (await fetch(`${app.url}${path}`)).text();

describe('The manual', () => {
  it('has each file of docs/ on one shelf, with the README first', () => {
    const files = ['docs', 'docs/decisions'].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    );
    expect(ENTRIES.map(({ file }) => file).sort()).toEqual([...files, 'CHANGELOG.md', 'README.md'].sort());
    expect(ENTRIES[0]?.file).toBe('README.md');
  });

  it('says of the attempts of a webhook what the reference says, and what is done', async () => {
    const {
      timeoutMs,
      retryAfterMs: [retryMs = 0, ...others],
    } = RETRY_POLICY.current;
    expect(others).toEqual([]);
    const reference = JSON.parse(await read('/openapi.json')).info.description;
    for (const text of [await read('/manual/webhooks'), reference].map((one) => one.replace(/\s+/g, ' '))) {
      expect(text).toContain(`within ${timeoutMs / 1_000} seconds`);
      expect(text).toContain(`a 5xx there is one more attempt ${retryMs / 1_000} seconds later`);
      expect(text).toMatch(/3xx or 4xx is never retried/);
    }
  });

  it('has pages whose links lead to pages, and to headings that they have', async () => {
    const texts = new Map<string, string>();
    for (const { name } of ENTRIES) texts.set(`/manual/${name}`, await read(`/manual/${name}`));
    for (const { name } of SUBSHELVES) texts.set(`/manual/${name}`, await read(`/manual/${name}`));
    texts.set('/manual', await read('/manual'));
    const dead: string[] = [];
    for (const [from, text] of texts) {
      for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const [target = '', anchor] = href.split('#');
        const page = texts.get(target === '' ? from : target);
        const isAsset = /^(https?:|data:|\/docs|\/openapi|\/app$|\/manual\/pictures\/[a-z-]+\.webp$)/.test(href);
        if (!isAsset && (!page || (anchor !== undefined && anchor !== 'content' && !page.includes(`id="${anchor}"`)))) {
          dead.push(`${from} → ${href}`);
        }
      }
    }
    expect(dead).toEqual([]);
  });

  it('lists on its first page every page that a shelf has, and the others on the page of their entry', async () => {
    const start = await read('/manual');
    const lists = await Promise.all(SUBSHELVES.map(({ name }) => read(`/manual/${name}`)));
    for (const { name, title } of SUBSHELVES)
      expect([title, start]).toEqual([title, expect.stringContaining(`/manual/${name}"`)]);
    const text = [start, ...lists].join('');
    expect(ENTRIES.filter(({ name }) => !text.includes(`<dt><a href="/manual/${name}">`))).toEqual([]);
    expect(start).not.toContain('Decisions: ');
    expect([...start.matchAll(/<li class="route"><strong>([^<]+)/g)].map(([, reader]) => reader)).toEqual([
      'I run a creator programme',
      'I write code',
      'I run the server',
    ]);
  });

  it('names the column in each cell of a table that a phone shows as blocks, and breaks no short command', async () => {
    const terms = await read('/manual/terms');
    expect(terms).toMatch(/<td data-label="Set by"><code class="whole">terms<\/code>/);
    const glossary = await read('/manual/glossary');
    expect(glossary).toMatch(/<table class="glossary">.*?<tbody><tr><th scope="row">brand<\/th><td>The company/s);
    expect(await read('/manual/start')).toContain('<code class="whole">npm start -- --empty</code>');
  });

  it('shows a picture as the screen and the colours of its reader have it, and opens it in full size', async () => {
    const text = await read('/manual/searching');
    expect(text).toContain(
      '<a class="picture" href="/manual/pictures/directory.webp"><picture><source media="(max-width: 34rem) and',
    );
    const sources = [
      ...text.matchAll(/(?:srcset|img src)="\/manual\/pictures\/([a-z-]+\.webp)"[^>]* width="(\d+)" height/g),
    ];
    expect(sources.map(([, name]) => name)).toEqual(
      ['-phone-dark', '-phone', '-dark', ''].map((variant) => `directory${variant}.webp`),
    );
    expect(Math.max(...sources.map(([, , width]) => Number(width)))).toBeLessThanOrEqual(1_100);
  });

  it('shows no comments of its source, and escapes what it quotes', async () => {
    const text = await read('/manual/stores');
    expect(text).not.toContain('<!-- not run');
    expect(text).toContain('&lt;script src=&quot;https://links.example/r.js?v=1&quot; async&gt;');
  });

  it('shows a warning as one, and the lines that load keys apart from the commands', async () => {
    const text = await read('/manual/workflow');
    expect(text).toContain('<div class="callout warning" role="note"><p class="kind">Warning</p><p>Anyone who has');
    expect(text).toMatch(
      /<pre tabindex="0"><code><span class="setup">\. \.rollcall\/demo\.env\nAUTH=[^<]+<\/span>curl -X POST/,
    );
    expect(text).not.toContain('[!');
  });

  it('answers HEAD and If-None-Match under a policy that runs its own script alone, and 404 as a page', async () => {
    const first = await fetch(`${app.url}/manual/glossary`);
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(first.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^;]+; script-src 'sha256-[^ ]+'; img-src 'self' data:; /,
    );
    const etag = first.headers.get('etag') ?? '';
    expect((await fetch(`${app.url}/manual/glossary`, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await fetch(`${app.url}/manual/glossary`, { method: 'HEAD' })).status).toBe(200);
    const pictures = readdirSync('docs/pictures');
    expect(pictures.length).toBeGreaterThanOrEqual(5);
    for (const name of pictures) {
      const picture = await fetch(`${app.url}/manual/pictures/${name}`);
      expect(picture.headers.get('content-type')).toBe('image/webp');
      expect((await picture.bytes()).length).toBeLessThanOrEqual(60_000);
    }
    expect((await fetch(`${app.url}/manual/pictures/none.webp`)).status).toBe(404);
    const missing = await fetch(`${app.url}/manual/nothing`);
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('all pages')]);
  });

  it('finds the section that has the words of a search, also with a letter wrong, and says when none has', async () => {
    const firstHit = async (query: string) =>
      /<ol class="hits">\s*<li>\s*<a href="([^"]+)"/.exec(
        await read(`/manual/search?q=${encodeURIComponent(query)}`),
      )?.[1];
    expect(await firstHit('backup restore')).toBe('/manual/backup#backup-and-restore');
    expect(await firstHit('shopify pixl')).toMatch(/^\/manual\/(selling-on-shopify|stores)/);
    const { headers, status } = await fetch(`${app.url}/manual?q=closing%20a%20month`, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, '/manual/search?q=closing%20a%20month']);
    expect(await read('/manual/search?q=xyzzyplugh')).toContain('No page has these words');
    expect(await read('/manual/search?q=%3Cscript%3E')).not.toContain('value="<script>');
    expect((await fetch(`${app.url}/manual/search?q=a&q=b`)).status).toBe(200);
  });

  it('counts what it found, names the shelf of each page, and quotes the plain sentence about a word with its context', async () => {
    const text = await read('/manual/search?q=refund');
    expect(text).toMatch(/<p class="quiet">\d+ results on \d+ pages<\/p>/);
    expect(text).toContain('>Selling on Shopify</a> <span class="shelf">First steps</span>');
    expect(text).toContain(
      '<p>A <mark>refund</mark> takes back its part of the commission, and a cancelled order all of it.</p>',
    );
    expect(text).toContain('<p>A payout pays approved commissions, oldest first. A <mark>refund</mark> after that');
    const named = await read('/manual/search?q=ROLLCALL_SECRET');
    expect(named.indexOf('/manual/operating#secret-and-access')).toBeLessThan(named.indexOf('/manual/stores#'));
  });

  it('quotes whole sentences of prose with the words marked, never tables or code, and brand pages come first', async () => {
    const pages: string[] = [];
    for (const query of ['payout', 'refund', 'commission', 'closing a month', 'backup restore']) {
      const list = [
        ...(await read(`/manual/search?q=${encodeURIComponent(query)}`))
          .replace(/^.*?<ol class="hits">/s, '')
          .matchAll(/<li>\s*<a href="([^"]+)">.*?<p>(.*?)<\/p>/gs),
      ];
      expect(list.length).toBeGreaterThan(1);
      for (const [, href = '', excerpt = ''] of list) {
        expect([href, excerpt]).toEqual([href, expect.not.stringMatching(/---|\$\(|curl|\*\*|^$|\w…|^…/)]);
      }
      expect([query, list[0]?.[2]]).toEqual([query, expect.stringContaining('<mark>')]);
      if (query === 'payout') pages.push(...list.map(([, href = '']) => href));
    }
    const firstInner = pages.findIndex((href) => /\/(decisions-|developing|measured|changelog)/.test(href));
    const lastMoney = pages.findLastIndex((href) => href.startsWith('/manual/money'));
    expect(lastMoney).toBeGreaterThanOrEqual(0);
    expect(firstInner === -1 || firstInner > lastMoney).toBe(true);
  });
});
