/**
 * Parses a CSV file: quotes, doubled quotes, commas or semicolons, any line ending, with or without a byte order mark.
 */
export function readCsv(text: string): string[][] {
  const bare = text.replace(/^\uFEFF/, '');
  const firstLine = bare.split(/\r?\n/, 1)[0] ?? '';
  const separator = firstLine.includes(';') && !firstLine.includes(',') ? ';' : ',';
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.some((value) => value.trim() !== '')) rows.push(row);
    row = [];
    cell = '';
  };
  for (let at = 0; at < bare.length; at += 1) {
    const character = bare[at] ?? '';
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (bare[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = '';
    } else if (character === '\n') endRow();
    else if (character !== '\r') cell += character;
  }
  endRow();
  return rows;
}
