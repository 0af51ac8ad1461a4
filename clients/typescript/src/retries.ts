/** A random time, up to twice as long each time, so that clients that failed together do not come again together. */
export const drawPause = (attempt: number): number => Math.random() * 250 * 2 ** attempt;

/** A proxy answers 502 and 504 for an API that it did not reach. */
const RETRIED = [429, 502, 503, 504];
const LONGEST_WAIT_MS = 60_000;

/** What the server asks for, in seconds or as a date; undefined if it does not. */
function readRetryAfter(response: Response | undefined): number | undefined {
  const text = response?.headers.get('retry-after');
  if (!text) return undefined;
  const ms = Number.isFinite(Number(text)) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/** No sooner than the server asks for. */
const toPause = (response: Response | undefined, attempt: number): number =>
  Math.min((readRetryAfter(response) ?? 0) + drawPause(attempt), LONGEST_WAIT_MS);

/** Retries that are allowed at once; each call adds a tenth of one, up to as many. */
const MOST_RETRIES = 10;
const RETRIES_A_CALL = 0.1;

interface RetryBudget {
  noteCall(): void;
  /** Takes a retry; false if there is none left. */
  take(): boolean;
}

function openRetryBudget(): RetryBudget {
  let retries = MOST_RETRIES;
  return {
    noteCall: () => {
      retries = Math.min(MOST_RETRIES, retries + RETRIES_A_CALL);
    },
    take: () => {
      if (retries < 1) return false;
      retries -= 1;
      return true;
    },
  };
}

const isJson = (response: Response) => response.headers.get('content-type')?.startsWith('application/json') === true;

/** Sends once, and reads JSON whole: a connection may break in the middle of an answer. */
async function sendOnce(send: (request: Request) => Promise<Response>, request: Request): Promise<Response> {
  const response = await send(request.clone());
  if (isJson(response)) await response.clone().arrayBuffer();
  return response;
}

/** Tries again what may be tried again, under the same names. */
export function retrying(send: (request: Request) => Promise<Response>, retries: number) {
  const budget = openRetryBudget();
  return async (request: Request): Promise<Response> => {
    budget.noteCall();
    for (let attempt = 0; ; attempt += 1) {
      const response = await sendOnce(send, request).catch((error: unknown) => {
        if (attempt >= retries || request.signal.aborted || !budget.take()) throw error;
        return undefined;
      });
      if (response) {
        const isRetried = attempt < retries && RETRIED.includes(response.status);
        // Who is over a rate limit is told when to come again, and is then answered.
        if (!isRetried || (response.status !== 429 && !budget.take())) return response;
      }
      const ms = toPause(response, attempt);
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  };
}
