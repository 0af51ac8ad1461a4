/** What a caller has of a walk that ended or was cut. */
export interface Walked {
  status: number;
  headers: Headers;
  cards: { pk: number }[];
  pks: number[];
  /** The last cursor that came, and how many creators before it. */
  cursor: string | undefined;
  before: number;
  /** The last line, if the walk came to its end. */
  end:
    | { complete: boolean; creators: number; credits: number; next: string | null; reason?: { code: string } }
    | undefined;
  refusal: { code: string; details?: { field: string }[] } | undefined;
}

/** Reads a walk line by line. `isEnough` cuts the connection. */
export async function walkOnce(
  url: string,
  key: string,
  query: Record<string, string>,
  { requestId, isEnough = () => false }: { requestId?: string; isEnough?: (pks: readonly number[]) => boolean } = {},
): Promise<Walked> {
  const cut = new AbortController();
  const response = await fetch(`${url}/v1/creators/search?${new URLSearchParams({ ...query, walk: 'true' })}`, {
    signal: cut.signal,
    headers: { authorization: `Bearer ${key}`, ...(requestId ? { 'x-request-id': requestId } : {}) },
  });
  const { status, headers } = response;
  const walked: Walked = {
    status,
    headers,
    cards: [],
    pks: [],
    cursor: undefined,
    before: 0,
    end: undefined,
    refusal: undefined,
  };
  if (status !== 200) return { ...walked, refusal: JSON.parse(await response.text()) };
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      const lines = `${text}${decoder.decode(chunk, { stream: true })}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const card = JSON.parse(line);
        const { pk, cursor, walk } = card;
        if (pk !== undefined) {
          walked.pks.push(pk);
          walked.cards.push(card);
        }
        if (cursor !== undefined) Object.assign(walked, { cursor, before: walked.pks.length });
        if (walk !== undefined) walked.end = walk;
      }
      if (isEnough(walked.pks)) cut.abort();
    }
  } catch {
    // The connection broke: what came before counts.
  }
  return walked;
}
