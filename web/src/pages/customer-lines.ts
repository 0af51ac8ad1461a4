/** A customer of another tool's list, or the reason why a line says none. */
export interface CustomerLine {
  number: number;
  email: string | undefined;
  subscription: string | undefined;
  problem: string | undefined;
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const isEmail = (cell: string) => cell.includes('@');

/** The columns that names in the first line tell: all others of the list are something else. */
interface Columns {
  email: number;
  subscription: number;
}

/** A column of addresses or of ids, unlike `Email marketing` and `Subscription status`, which say something about them. */
const NAMES = {
  email: /^(?:customer|client|kunden?|billing|contact)?[\s_-]*e?-?mail(?:[\s_-]*(?:address|adresse))?$/i,
  subscription: /^(?:customer)?[\s_-]*(?:subscription|contract|abo)[\s_-]*(?:id|number|no\.?|nr\.?|#)?$/i,
} as const;

const findColumns = (names: readonly string[]): Columns => ({
  email: names.findIndex((name) => NAMES.email.test(name)),
  subscription: names.findIndex((name) => NAMES.subscription.test(name)),
});

const CELL = /\s*(?:"((?:[^"]|"")*)"\s*|([^,;\t]*))(?:[,;\t]|$)/gy;

/** The cells of a line; a quoted one may have the separator in it. */
function splitCells(line: string): string[] {
  const cells: string[] = [];
  // A match of nothing at the end is no cell, unless a separator stands before it.
  for (const { 0: all, 1: quoted, 2: plain = '', index } of line.matchAll(CELL)) {
    if (all === '' && index > 0 && !/[,;\t]$/.test(line)) break;
    cells.push((quoted?.replaceAll('""', '"') ?? plain).trim());
  }
  return cells;
}

const STATES = /^(?:active|cancell?ed|paused|expired|trialing|past_due|unpaid|yes|no|true|false|enabled|disabled)$/i;

/** Says why a cell cannot be the id of a subscription. */
function findIdProblem(id: string): string | undefined {
  if (/^\d(?:[.,]\d+)?e\+\d+$/i.test(id))
    return `“${id}” is an id that a spreadsheet has shortened. Format its column as text, and export it again.`;
  const isOther = /\s/.test(id) || STATES.test(id) || /^\d{1,4}([-/.])\d{1,2}\1\d{1,4}/.test(id);
  return isOther ? `“${id}” is not the id of a subscription.` : undefined;
}

function findProblem(cells: readonly string[], { email, subscription, number }: CustomerLine): string | undefined {
  const filled = cells.filter((cell) => cell !== '').length;
  if (filled > (email === undefined ? 0 : 1) + (subscription === undefined ? 0 : 1))
    return `It has ${filled} values. Keep an email address, the id of a subscription, or both.`;
  if (email !== undefined && !EMAIL.test(email)) return `${email} is not an email address.`;
  const idProblem = subscription === undefined ? undefined : findIdProblem(subscription);
  if (idProblem !== undefined) return idProblem;
  return number > 0 && email === undefined && subscription === undefined ? 'It names no customer.' : undefined;
}

/** Reads an address, the id of a subscription, or both of each line, as a CSV file has them. */
export function readCustomerLines(text: string): CustomerLine[] {
  const rows = text.split(/\r?\n/).map((line, place) => ({
    number: place + 1,
    cells: splitCells(line),
  }));
  const [head, ...rest] = rows.filter(({ cells }) => cells.some((cell) => cell !== ''));
  if (!head) return [];
  // Names of columns have neither an address nor a digit.
  const hasNames = rest.length > 0 && head.cells.every((cell) => !isEmail(cell) && !/\d/.test(cell));
  const columns = hasNames && head.cells.length > 1 ? findColumns(head.cells) : undefined;
  const isNamed = columns !== undefined && (columns.email >= 0 || columns.subscription >= 0);
  return (hasNames ? rest : [head, ...rest]).map(({ number, cells }) => {
    const own = isNamed ? [cells[columns.email] ?? '', cells[columns.subscription] ?? ''] : cells;
    const line: CustomerLine = {
      number,
      email: own.find(isEmail),
      subscription: own.find((cell) => cell !== '' && !isEmail(cell)),
      problem: undefined,
    };
    return { ...line, problem: findProblem(own, line) };
  });
}
