import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

export interface ProfileProvider {
  url: string;
  unknown: RequestListener;
  /** How it answers; a test sets it. */
  answer: RequestListener;
  close(): Promise<void>;
}

/** A server that speaks the profile provider's protocol, and knows nobody until a test says how it answers. */
export async function startProvider(): Promise<ProfileProvider> {
  const server = createServer((request, response) => provider.answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const unknown: RequestListener = (_request, response) => void response.writeHead(404).end();
  const provider: ProfileProvider = {
    url: `http://127.0.0.1:${port}/v2/`,
    unknown,
    answer: unknown,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}

export const answering =
  (profile: unknown): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(profile));
