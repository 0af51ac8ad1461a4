import { type Answer, call, type TestApp } from '../app.ts';

/** A file of a form. */
export const file = (bytes: string | Uint8Array<ArrayBuffer>, name: string, type = ''): File =>
  new File([bytes], name, { type });

/** Uploads a file as a browser's form does. Fields come first or last, as a form has them. */
export async function upload(
  app: TestApp,
  key: string,
  sent: File | undefined,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (sent) form.append('file', sent);
  return await call(`${app.url}/v1/assets`, key, { method: 'POST', body: form, headers });
}

/** A signed address as the test's own server serves it. */
export const here = (app: TestApp, url: string): string => url.replace('https://go.example', app.url);
