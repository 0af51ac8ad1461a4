import { strToU8, zipSync } from 'fflate';

/** A cell: text, a number as the workbook's XML has it, perhaps with a format, or the serial of a date. */
export type SheetCell = string | { number: string; format?: string } | { serial: number } | null;

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const letter = (position: number): string =>
  position < 26 ? String.fromCharCode(65 + position) : `A${letter(position - 26)}`;

/** The first two styles are those of numbers and of times. */
const FIRST_FORMAT = 2;

function writeCell(cell: SheetCell, place: string, formats: string[]): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return `<c r="${place}" t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`;
  if ('serial' in cell) return `<c r="${place}" s="1"><v>${cell.serial}</v></c>`;
  if (cell.format === undefined) return `<c r="${place}"><v>${cell.number}</v></c>`;
  if (!formats.includes(cell.format)) formats.push(cell.format);
  return `<c r="${place}" s="${FIRST_FORMAT + formats.indexOf(cell.format)}"><v>${cell.number}</v></c>`;
}

function writeSheet(rows: readonly (readonly SheetCell[])[], formats: string[]): string {
  const body = rows.map(
    (cells, i) =>
      `<row r="${i + 1}">${cells.map((cell, at) => writeCell(cell, `${letter(at)}${i + 1}`, formats)).join('')}</row>`,
  );
  return `<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${body.join('')}</sheetData></worksheet>`;
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** A workbook as spreadsheets save it, as far as a reader needs. */
export function makeWorkbook(
  sheets: Readonly<Record<string, readonly (readonly SheetCell[])[]>>,
  hidden: readonly string[] = [],
  is1904 = false,
): Uint8Array {
  const names = Object.keys(sheets);
  const parts: Record<string, Uint8Array> = {
    '[Content_Types].xml': strToU8(
      `<?xml version="1.0"?><Types xmlns="${PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>`,
    ),
    '_rels/.rels': strToU8(
      `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ),
    'xl/workbook.xml': strToU8(
      `<?xml version="1.0"?><workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">${is1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${names.map((name, i) => `<sheet name="${escapeXml(name)}" sheetId="${i + 1}"${hidden.includes(name) ? ' state="hidden"' : ''} r:id="r${i + 1}"/>`).join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships">${names.map((_, i) => `<Relationship Id="r${i + 1}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`).join('')}<Relationship Id="s" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
    ),
  };
  const formats: string[] = [];
  Object.values(sheets).forEach((rows, i) => {
    parts[`xl/worksheets/sheet${i + 1}.xml`] = strToU8(writeSheet(rows, formats));
  });
  parts['xl/styles.xml'] = strToU8(
    `<?xml version="1.0"?><styleSheet xmlns="${MAIN}"><numFmts>${formats.map((format, i) => `<numFmt numFmtId="${164 + i}" formatCode="${escapeXml(format)}"/>`).join('')}</numFmts><cellXfs count="${FIRST_FORMAT + formats.length}"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/>${formats.map((_, i) => `<xf numFmtId="${164 + i}" applyNumberFormat="1"/>`).join('')}</cellXfs></styleSheet>`,
  );
  return zipSync(parts);
}
