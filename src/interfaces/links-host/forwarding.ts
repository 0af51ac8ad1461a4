export const CLICK_ID = 'click_id';

/** A longer query is not forwarded. */
const MOST_BYTES = 1_000;
const NOT_PLAIN = /[^\x21-\x7e]/g;

/** A parameter of a query, as it is written: URLSearchParams would encode it again, and a shop may read that differently. */
export interface Parameter {
  name: string;
  text: string;
}

/** The name that a shop reads: `utm%5Fsource` is `utm_source`. */
function readName(text: string): string {
  const end = text.indexOf('=');
  const name = end === -1 ? text : text.slice(0, end);
  return /[%+]/.test(name) ? (new URLSearchParams(name).keys().next().value ?? '') : name;
}

/** The parameters of a query but the click id, which only this host gives. */
export function readParameters(query: string): Parameter[] {
  const parameters: Parameter[] = [];
  for (const text of query.split('&')) {
    const name = readName(text);
    if (text !== '' && name !== CLICK_ID) parameters.push({ name, text });
  }
  return parameters;
}

/** Node gives the bytes of a request one by one. Programs may send some that no header should have. */
const toPlain = (text: string): string =>
  text.search(NOT_PLAIN) === -1
    ? text
    : text.replaceAll(NOT_PLAIN, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** The parameters of a click, from after the question mark; none if they are longer than what is forwarded. */
export function readForwarded(query: string): Parameter[] {
  const end = query.indexOf('#');
  const parameters = readParameters(toPlain(end === -1 ? query : query.slice(0, end)));
  let bytes = parameters.length - 1;
  for (const { text } of parameters) bytes += text.length;
  return bytes > MOST_BYTES ? [] : parameters;
}

/** The destination's own parameters with those of a click: one that both have is replaced in place, others follow in order. */
export function mergeParameters(own: readonly Parameter[], forwarded: readonly Parameter[]): readonly Parameter[] {
  if (own.length === 0) return forwarded;
  const names = new Set(forwarded.map(({ name }) => name));
  const placedNames = new Set<string>();
  const mergedParameters: Parameter[] = [];
  for (const parameter of own) {
    const { name } = parameter;
    if (!names.has(name)) mergedParameters.push(parameter);
    else if (!placedNames.has(name)) mergedParameters.push(...forwarded.filter((one) => one.name === name));
    if (names.has(name)) placedNames.add(name);
  }
  return [...mergedParameters, ...forwarded.filter(({ name }) => !placedNames.has(name))];
}
