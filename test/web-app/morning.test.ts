import { createServer, type Server } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, unique, until } from '../harness/app.ts';
import { hasBrowser, openBrowser } from '../harness/browser.ts';
import { daysAgo, makeAssignment, makeSale } from '../harness/sales.ts';
import { axe, builtClient, type OpenPage, openWebApp, shoot } from '../harness/web-app.ts';

const EOF
sed -i '$d' test/web-app/morning.test.ts; ls test/webhooks* test/*/webhook* 2>/dev/null; ls test/harness; grep -n "export" test/harness/*hook* test/harness/receiv* 2>/dev/null | head -20
