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

const findColumns = (names: readonly string[]): Columns => ({
  email: names.findIndex((name) => /mail/i.test(name)),
  subscription: names.findIndex((name) => /subscription|contract|\babo\b/i.test(name)),
});

function findProblem(cells: readonly string[], { email, subscription, number }: CustomerLine): string | undefined {
  const filled = cells.filter((cell) => cell !== '').length;
  if (filled > (email === undefined ? 0 : 1) + (subscription === undefined ? 0 : 1))
    return `It has ${filled} values. Keep an email address, the id of a subscription, or both.`;
  if (email !== undefined && !EMAIL.test(email)) return `${email} is not an email address.`;
  if (subscription !== undefined && /\s/.test(subscription))
    return `“${subscription}” is not the id of a subscription.`;
  return number > 0 && email === undefined && subscription === undefined ? 'It names no customer.' : undefined;
}

/** Reads an address, the id of a subscription, or both of each line, as a CSV file has them. */
export function readCustomerLines(text: string): CustomerLine[] {
  const rows = text.split(/\r?\n/).map((line, place) => ({
    number: place + 1,
    cells: line.split(/[,;\t]/).map((cell) => cell.trim().replaceAll(/^"|"$/g, '')),
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
