import type { z } from 'zod';
import type { Problem } from './errors.ts';

type Issue = z.core.$ZodIssue;

/** True if the shape declares this field. Properties of Object.prototype do not count. */
export function isDeclared(shape: z.ZodObject, name: string): boolean {
  return Object.hasOwn(shape.shape, name);
}

/** The input of a rule across fields. A field that is missing or invalid may hold anything. */
export type Unchecked<Field extends string> = Partial<Record<Field, unknown>>;

/** Lets a rule across fields run even if a field is invalid by itself, so that all problems are reported at once. */
export const besideOthers = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

const SHOWN = 60;

const isWhole = (value: unknown) => typeof value === 'object' && value !== null && !(value instanceof Date);

/** A value as an error message shows it, shortened so that it never repeats a whole body. */
function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isWhole(value)) return 'an object';
  if (typeof value !== 'string' && !(value instanceof Date)) return String(value);
  const text = value instanceof Date ? (value.toJSON() ?? 'no time') : value;
  const characters = [...text];
  return JSON.stringify(characters.length > SHOWN ? `${characters.slice(0, SHOWN).join('')}…` : text);
}

/** Issues that may stem from a value of the wrong JSON type, which their messages then name. */
const OF_TYPES: ReadonlySet<string | undefined> = new Set(['invalid_type', 'invalid_union', 'invalid_value']);

/** A value with its type where that may be what is wrong: `the number 5` for a name, `the string "5"` for a number. */
function showInput(issue: Issue): string {
  const { code, input } = issue;
  const inputText = show(input);
  if (typeof input === 'string') return code === 'invalid_type' ? `the string ${inputText}` : inputText;
  if (typeof input === 'boolean') return OF_TYPES.has(code) ? `the boolean ${inputText}` : inputText;
  if (typeof input !== 'number' || !OF_TYPES.has(code)) return inputText;
  return code === 'invalid_type' && issue.expected === 'int' ? inputText : `the number ${inputText}`;
}

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Messages that say what is valid, for formats where zod's own message only says that the value is invalid. */
const FORMATS: Readonly<Record<string, string>> = {
  date: 'must be a date such as 2026-11-22',
  datetime: 'must be a time with its offset such as 2026-11-22T09:30:00Z',
  email: 'must be an email address such as ana@example.com',
  url: 'must be a whole address such as https://shop.example/page',
};

const isDefault = ({ message }: Issue) => message.startsWith('Invalid ');

const describeLength = (count: number | bigint, origin: string) =>
  `${count} ${origin === 'string' ? 'character' : 'item'}${Number(count) === 1 ? '' : 's'}`;

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_union': {
      if (!isDefault(issue)) return issue.message;
      const branches = issue.errors.flatMap(([first]) => (first ? [expectation(first)] : []));
      return [...new Set(branches)].join(', or ') || issue.message;
    }
    case 'invalid_format':
      return isDefault(issue) ? (FORMATS[issue.format] ?? issue.message) : issue.message;
    case 'invalid_type':
      return `must be ${withArticle(issue.expected === 'int' ? 'whole number' : issue.expected)}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at least ${describeLength(issue.minimum, issue.origin)}`
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at most ${describeLength(issue.maximum, issue.origin)}`
        : `must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    default:
      return issue.message;
  }
}

/** A stable code for a zod issue. A custom rule may set its code in `params.code`. */
function toCode(issue: Issue): string {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value')) return 'required';
  if (issue.code === 'custom' && typeof issue.params?.code === 'string') return issue.params.code;
  if (issue.code === 'custom') return 'invalid';
  return issue.code;
}

/** Fields whose values are never repeated in error messages. */
const SECRETS: ReadonlySet<PropertyKey | undefined> = new Set(['token', 'secret', 'webhook_secret', 'client_secret']);

function toMessage(issue: Issue, code: string): string {
  if (code !== 'required' && SECRETS.has(issue.path.at(-1))) return `${expectation(issue)}.`;
  if (issue.code === 'custom') {
    // A rule across fields sees the whole body, so its message is complete by itself.
    const isOfFields = isWhole(issue.input) || code === 'required';
    return isOfFields ? `${issue.message}.` : `${issue.message}; got ${showInput(issue)}.`;
  }
  return code === 'required' ? 'is required.' : `${expectation(issue)}; got ${showInput(issue)}.`;
}

/** `links.0.value`. Below the rules of a deal places stand in brackets: `terms.rules[3].when.country[0]`. */
function writePath(path: readonly PropertyKey[]): string {
  const rules = path.findIndex((part, place) => part === 'rules' && path[place - 1] === 'terms');
  const parts = path.map((part, place) =>
    rules >= 0 && place > rules && typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
  );
  return parts.join('').slice(1) || 'body';
}

/** Every issue of a failed parse as field, code and a message that names the value and what would be right. */
export function toProblems(result: z.ZodSafeParseResult<unknown>): Problem[] {
  if (result.success) return [];
  return result.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const message = 'is not a known field.';
      return issue.keys.map((key) => ({ field: writePath([...issue.path, key]), code: 'unknown_field', message }));
    }
    const code = toCode(issue);
    return [{ field: writePath(issue.path), code, message: toMessage(issue, code) }];
  });
}
