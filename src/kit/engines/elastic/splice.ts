import { z } from 'zod';

const SOURCE = '"_source":{';
/** Sources as imports write them: the card, then the fields that only filters need. */
const CARD = '"card":';
const CLOSE = ',"x":{';

const Hits = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: z.object({ card: z.record(z.string(), z.unknown()) }) })) }),
});

function parseCards(bytes: Buffer): string {
  const { hits } = Hits.parse(JSON.parse(bytes.toString())).hits;
  return Buffer.from(hits.map(({ _source }) => JSON.stringify(_source.card)).join(',')).toString('latin1');
}

/**
 * The cards of a search response as the inner text of a JSON array, without parsing: half the CPU (measured). Safe because
 * a JSON string cannot contain an unescaped quote. A response with a source of another shape is parsed. The text is
 * latin1: one character per byte.
 */
export function spliceCards(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  const cards: string[] = [];
  for (let at = text.indexOf(SOURCE); at >= 0; ) {
    const begin = at + SOURCE.length;
    const next = text.indexOf(SOURCE, begin);
    const end = text.indexOf(CLOSE, begin);
    if (!text.startsWith(CARD, begin) || end < 0 || (next >= 0 && end > next)) return parseCards(bytes);
    cards.push(text.slice(begin + CARD.length, end));
    at = next;
  }
  return cards.join(',');
}
