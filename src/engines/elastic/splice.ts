/**
 * The sources of a search answer, as the text between the brackets of a JSON array, without parsing it: half the CPU
 * of parsing (measured). `bytes` must come from `filter_path=hits.hits._source.<field>`, each source `{"<field>": {…}}`.
 * Safe because an unescaped quote cannot occur inside a JSON string; the text is latin1, one character a byte.
 */
export function spliceSources(bytes: Buffer, field: string): string {
  const open = `{"_source":{"${field}":`;
  const text = bytes.toString('latin1');
  const start = text.indexOf(open);
  if (start < 0) return '';
  const end = text.length - '}}]}}'.length;
  return text.slice(start + open.length, end).replaceAll(`}},${open}`, ',');
}
