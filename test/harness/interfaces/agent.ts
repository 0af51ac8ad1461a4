import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export type Protocol = '2025-11-25' | '2026-07-28';

/** The official client, as an agent's host uses it. */
export async function connectAgent(url: string, key: string, path = '/mcp', protocol: Protocol = '2026-07-28') {
  const mode = protocol === '2026-07-28' ? { pin: '2026-07-28' } : ('legacy' as const);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}${path}`), { requestInit: { headers } }));
  return client;
}

type Result = Awaited<ReturnType<Client['callTool']>>;

/** The product's own error body of a refused call. */
export function errorOf({ isError, content }: Result) {
  const [first] = Array.isArray(content) ? content : [];
  if (!isError || first?.type !== 'text') throw new Error('The call was not refused.');
  return JSON.parse(first.text);
}
