import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface Statements {
  /** ClickHouse's URL, where statements are read on their way. */
  url: string;
  /** Every statement that came through, in order. */
  seen: string[];
  /** Awaited before a statement goes on. */
  before(work: (statement: string) => Promise<void>): void;
  close(): Promise<void>;
}

/** Stands before ClickHouse, so that a test can count what is asked of it, or do something in between. */
export async function watchStatements(target: string): Promise<Statements> {
  const seen: string[] = [];
  let work: (statement: string) => Promise<void> = async () => undefined;
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = await buffer(incoming);
    seen.push(body.toString());
    await work(body.toString());
    const { method, headers } = incoming;
    const requested = request(new URL(incoming.url ?? '/', target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    requested.on('error', () => outgoing.destroy()).end(body);
  };
  // A caller that gives up halfway must not fail the test run.
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(target);
  url.port = String(typeof address === 'object' && address ? address.port : 0);
  return {
    url: url.href,
    seen,
    before: (next) => {
      work = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
