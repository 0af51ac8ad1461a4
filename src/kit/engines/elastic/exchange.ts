import type { Dispatcher, Pool } from 'undici';

export interface Exchanged {
  status: number;
  bytes: Buffer;
}

/**
 * One POST and its whole response. Collects the chunks itself, because undici's response stream costs more CPU than a
 * search.
 */
export function exchange(
  pool: Pool,
  request: Pick<Dispatcher.DispatchOptions, 'path' | 'headers' | 'body' | 'headersTimeout' | 'bodyTimeout'>,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    pool.dispatch(
      { method: 'POST', ...request },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => {
          const [only] = chunks;
          resolve({ status, bytes: only && chunks.length === 1 ? only : Buffer.concat(chunks) });
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}
