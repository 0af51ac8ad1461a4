/** One range of an `Accept` or `Accept-Encoding` header. */
interface Range {
  name: string;
  weight: number;
  position: number;
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function readRanges(header: string): Range[] {
  return header.split(',').map((range, position) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.map((parameter) => WEIGHT.exec(parameter)?.[1]).find((found) => found !== undefined);
    return { name: name === '' ? '*/*' : name, weight: weight === undefined ? 1 : Number(weight), position };
  });
}

/** The range that speaks of this name: the most exact one (RFC 9110, 12.5.1). `names` go from exact to any. */
function rangeOf(ranges: readonly Range[], names: readonly string[]): Range | undefined {
  for (const name of names) {
    const found = ranges.find((range) => range.name === name);
    if (found) return found;
  }
  return undefined;
}

/** What a caller wants most of what there is, by weight and then in the caller's order; undefined when it takes none. */
export function preferred<Form extends string>(
  header: string,
  forms: readonly { form: Form; names: readonly string[] }[],
): Form | undefined {
  const ranges = readRanges(header);
  const [best] = forms
    .flatMap(({ form, names }) => {
      const range = rangeOf(ranges, names);
      return range && range.weight > 0 ? [{ form, range }] : [];
    })
    .sort(({ range: a }, { range: b }) => b.weight - a.weight || a.position - b.position);
  return best?.form;
}
