import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { pageDeadlineMs } from '../../run/deadline.ts';

const Violations = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

/** What axe-core finds wrong with a page, each rule with where; the page is opened apart, for axe is a script. */
export async function violationsOf(browser: Browser, url: string, html?: string): Promise<string[]> {
  const context = await browser.newContext({ bypassCSP: true, viewport: { width: 360, height: 740 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(pageDeadlineMs);
    if (html === undefined) await page.goto(url);
    else await page.setContent(html);
    await page.evaluate(axe.source);
    const found: string = await page.evaluate(
      'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => JSON.stringify(violations))',
    );
    return Violations.parse(JSON.parse(found)).map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`,
    );
  } finally {
    await context.close();
  }
}
