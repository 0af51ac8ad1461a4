import { operations } from 'virtual:operations';
import type { Answer, OperationId, Problem } from './call.ts';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checks that a body has the expected type. */
export type Check<T> = (body: unknown) => body is T;

/** The check is true if a body has the top-level fields of the operation's answers. */
export function createAnswerCheck<Id extends OperationId>(id: Id): Check<Answer<Id>> {
  const outline = Object.entries(operations[id]?.[3] ?? {});
  return (body): body is Answer<Id> =>
    isRecord(body) &&
    outline.every(([name, kind]) => (kind === 'array' ? Array.isArray(body[name]) : isRecord(body[name])));
}

export interface ListPage<Item> {
  data: readonly Item[];
  pagination: { total: number; has_more: boolean; page: number };
}

/** True if a body is a page of a list. Its rows are typed as the operation declares them. */
export const isListed = <Item>(body: unknown): body is ListPage<Item> =>
  isRecord(body) &&
  Array.isArray(body.data) &&
  isRecord(body.pagination) &&
  typeof body.pagination.total === 'number' &&
  typeof body.pagination.has_more === 'boolean';

/** The answers to signing in and out. */
export interface Signing {
  data: Record<string, unknown>;
}

export const isSigning = (body: unknown): body is Signing => isRecord(body) && isRecord(body.data);

/** A question about a file that must be answered before it is accepted. */
export interface OpenQuestion {
  id: string;
  message: string;
  options: readonly { label: string; mapping: Record<string, unknown> }[];
}

const isOption = (one: unknown) => isRecord(one) && typeof one.label === 'string' && isRecord(one.mapping);
const isQuestion = (one: unknown): one is OpenQuestion =>
  isRecord(one) &&
  typeof one.id === 'string' &&
  typeof one.message === 'string' &&
  Array.isArray(one.options) &&
  one.options.every(isOption);

/** An error body. A proxy's own may lack all of it. */
export interface Refusal {
  error?: string | undefined;
  code?: string | undefined;
  details?: Problem[];
  questions?: OpenQuestion[];
}

const toText = (value: unknown) => (typeof value === 'string' ? value : undefined);
const isProblem = (one: unknown): one is Problem =>
  isRecord(one) && typeof one.field === 'string' && typeof one.message === 'string';

export function parseRefusal(body: unknown): Refusal {
  if (!isRecord(body)) return {};
  const { error, code, details, questions } = body;
  return {
    error: toText(error),
    code: toText(code),
    details: Array.isArray(details) ? details.filter(isProblem) : [],
    questions: Array.isArray(questions) ? questions.filter(isQuestion) : [],
  };
}
