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
  signal: AbortSignal | undefined,
  request: Pick<Dispatcher.DispatchOptions, 'path' | 'headers' | 'body' | 'headersTimeout' | 'bodyTimeout'>,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let cancel: (() => void) | undefined;
    const stopListening = () => {
      if (cancel) signal?.removeEventListener('abort', cancel);
    };
    pool.dispatch(
      { method: 'POST', ...request },
      {
        onRequestStart: (controller) => {
          if (!signal) return;
          if (signal.aborted) return controller.abort(signal.reason);
          stopListening();
          cancel = () => controller.abort(signal.reason);
          signal.addEventListener('abort', cancel);
        },
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => {
          stopListening();
          const [only] = chunks;
          resolve({ status, bytes: only && chunks.length === 1 ? only : Buffer.concat(chunks) });
        },
        onResponseError: (_controller, error) => {
          stopListening();
          reject(error);
        },
      },
    );
  });
}
