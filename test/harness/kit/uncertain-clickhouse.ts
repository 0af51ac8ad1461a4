import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { openEngineDoor } from './engine-door.ts';

const REASONS = {
  '286': 'Quorum for previous write has not been satisfied yet. (UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE)',
  '319': 'Unknown quorum status. The data was inserted in the local replica. (UNKNOWN_STATUS_OF_INSERT)',
} as const;
export type UncertainCode = keyof typeof REASONS;

const TOKEN = /(INSERT INTO (\w+) .*insert_deduplication_token = )'([^']+)'/s;

/**
 * The real ClickHouse behind a door that does an insert and answers as a cluster whose quorum failed. Like that cluster
 * (ClickHouse 81260) it then no longer knows the insert's token.
 */
export async function startUncertainClickHouse(target: string): Promise<{
  url: string;
  /** The next insert into the table is done, and answered with the code. */
  failNext(table: string, code: UncertainCode): void;
  /** Answers that hid an insert. */
  hidden(): number;
  close(): Promise<void>;
}> {
  const failing = new Map<string, UncertainCode>();
  const forgotten = new Set<string>();
  let hidden = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', target);
    const sent = await buffer(request);
    const inUrl = url.searchParams.get('query');
    const statement = inUrl ?? sent.toString('utf8');
    const [, , table = '', token = ''] = TOKEN.exec(statement) ?? [];
    const code = failing.get(table);
    const renamed = forgotten.delete(token) ? statement.replace(TOKEN, `$1'$3:forgotten'`) : statement;
    if (inUrl !== null) url.searchParams.set('query', renamed);
    const { authorization, 'content-type': type } = request.headers;
    const answer = await fetch(url, {
      method: request.method ?? 'POST',
      headers: { ...(authorization ? { authorization } : {}), ...(type ? { 'content-type': type } : {}) },
      ...(request.method === 'GET' ? {} : { body: inUrl === null ? renamed : new Uint8Array(sent) }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (code === undefined || !answer.ok) {
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
        .end(body);
      return;
    }
    failing.delete(table);
    forgotten.add(token);
    hidden += 1;
    response.writeHead(500, { 'x-clickhouse-exception-code': code });
    response.end(`Code: ${code}. DB::Exception: ${REASONS[code]}`);
  };
  const door = await openEngineDoor(serve);
  return {
    url: door.url,
    failNext: (table, code) => void failing.set(table, code),
    hidden: () => hidden,
    close: door.close,
  };
}
