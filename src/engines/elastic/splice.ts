/**
 * The sources of a search response as the inner text of a JSON array, without parsing: half the CPU (measured). `bytes`
 * must come from `filter_path=hits.hits._source.<field>`, each source `{"<field>": {…}}`. Safe because a JSON string
 * cannot contain an unescaped quote. The text is latin1: one character per byte.
 */
export function spliceSources(bytes: Buffer, field: string): string {
  const open = `{"_source":{"${field}":`;
  const text = bytes.toString('latin1');
  const start = text.indexOf(open);
  if (start < 0) return '';
  const end = text.length - '}}]}}'.length;
  return text.slice(start + open.length, end).replaceAll(`}},${open}`, ',');
}
