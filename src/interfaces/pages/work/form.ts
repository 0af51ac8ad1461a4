import type { Form } from '../../../kit/html/form.ts';
import { hasLogin, withScheme } from '../../../kit/values/web-address.ts';

const MAX_URL = 2_000;
const MAX_NOTE = 5_000;
const MAX_REASON = 2_000;

const count = (text: string) => [...text].length;

function linkProblem(link: string): string | undefined {
  if (!/^https:\/\/[^/]/i.test(link) || !URL.canParse(link))
    return 'Enter a complete address that begins with https://.';
  if (hasLogin(new URL(link))) return 'The address must not contain a name or password.';
  return link.length > MAX_URL ? `The address is longer than ${MAX_URL} characters.` : undefined;
}

export interface Submission {
  contentUrl: string;
  note: string;
  problems: { content_url?: string | undefined; files?: string | undefined; note?: string | undefined };
}

export const NO_SUBMISSION: Submission = { contentUrl: '', note: '', problems: {} };

/** A link or files, and a note. `fileCount` is the number of accepted files; `fileProblem` says why one was refused. */
export function readSubmission(form: Form, fileCount: number, fileProblem: string | undefined): Submission {
  const contentUrl = withScheme(form.text('content_url').trim());
  const note = form.text('note').trim();
  const isEmpty = contentUrl === '' && fileCount === 0 && fileProblem === undefined;
  return {
    contentUrl,
    note,
    problems: {
      content_url: isEmpty ? 'Give a link, or choose a file.' : contentUrl === '' ? undefined : linkProblem(contentUrl),
      files: fileProblem === undefined ? undefined : `${fileProblem} Please choose your files again.`,
      note: count(note) > MAX_NOTE ? `Shorten your note to ${MAX_NOTE} characters; it has ${count(note)}.` : undefined,
    },
  };
}

export interface Refusal {
  reason: string;
  problems: { reason?: string | undefined };
}

export const NO_REFUSAL: Refusal = { reason: '', problems: {} };

export function readRefusal(form: Form): Refusal {
  const reason = form.text('reason').trim();
  const problem =
    reason === ''
      ? 'Say why, in a few words.'
      : count(reason) > MAX_REASON
        ? `Shorten the reason to ${MAX_REASON} characters; it has ${count(reason)}.`
        : undefined;
  return { reason, problems: { reason: problem } };
}

export const hasProblem = (problems: Record<string, string | undefined>): boolean =>
  Object.values(problems).some((problem) => problem !== undefined);
