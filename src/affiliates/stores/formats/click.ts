import { splitClicks } from '../../../kit/values/click-token.ts';
import { withoutMarks } from '../../../kit/values/text.ts';

const PARAMETER = 'click_id';
export const MAX_LENGTH = 500;
export const MAX_VALUES = 50;

/** Reads the click id that our redirect added to a landing page's address or path. */
export function readClickIdFromUrl(url: string | null | undefined): string | undefined {
  const query = /^[^?#]*\?([^#]*)/.exec(url ?? '')?.[1];
  return query === undefined ? undefined : (new URLSearchParams(query).get(PARAMETER) ?? undefined);
}

/** Reads click ids that a theme or plug-in wrote into an order's attributes. */
export function readClickIds(attributes: readonly { name: string; value: unknown }[]): string[] {
  return attributes.flatMap(({ name, value }) =>
    [PARAMETER, `_${PARAMETER}`].includes(name) && typeof value === 'string' ? [value] : [],
  );
}

/** Keeps distinct click ids; one value may hold several. */
export const uniqueClicks = (values: readonly (string | null | undefined)[]): string[] =>
  uniqueTexts(values.flatMap((value) => splitClicks(value ?? '')));

/** Keeps distinct, non-empty texts in their order, within limits. */
function uniqueTexts(values: readonly (string | null | undefined)[]): string[] {
  const texts = values.flatMap((value) => {
    const text = value?.trim() ?? '';
    return text === '' || text.length > MAX_LENGTH || text.includes('\0') ? [] : [text];
  });
  return [...new Set(texts)].slice(0, MAX_VALUES);
}

/** Keeps distinct codes. One that was pasted into the shop with invisible marks or taken-apart accents also counts without. */
export const uniqueCodes = (codes: readonly (string | null | undefined)[]): string[] =>
  uniqueTexts(codes.flatMap((code) => [code, withoutMarks(code ?? '').normalize()]));
