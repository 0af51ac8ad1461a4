import { z } from 'zod';
import { readForm } from '../../../kit/html/form.ts';
import { addressField } from '../../../kit/values/email.ts';
import { formatNumber } from '../../../kit/values/format.ts';
import { parseHandleAddress } from '../../../kit/values/handle-address.ts';
import { hasLogin, withScheme } from '../../../kit/values/web-address.ts';
import type { ApplicationInput } from '../../../workflow/applications/applications.ts';
import { findHandleProblem, toHandle } from '../../../workflow/creators/creators.shapes.ts';

const MAX_MESSAGE = 5_000;
const MAX_LINKS = 5;
const MAX_LINK = 2_000;
const NOT_A_HANDLE = 'Enter only the handle, such as @yourname, or the address of your profile.';
const NOT_A_PROFILE = 'This is not the address of a profile. Enter your handle, such as @yourname.';

/** An optional field. */
const optional = (shape: z.ZodType<string, string>) =>
  z
    .string()
    .trim()
    .transform((text) => (text === '' ? null : text))
    .pipe(shape.nullable());

const LABELS = { photo_app: 'Instagram handle', video_app: 'TikTok handle' };

const handleOn = (platform: keyof typeof LABELS) =>
  optional(
    z
      .string()
      .max(MAX_LINK, NOT_A_HANDLE)
      .superRefine((text, context) => {
        const problem = findHandleProblem(text, platform, LABELS);
        if (problem) context.addIssue({ code: 'custom', message: describeProblem(text, problem.code) });
      })
      .overwrite((text) => toHandle(text, platform)),
  );

function describeProblem(text: string, code: string): string {
  if (code === 'not_a_profile') return NOT_A_PROFILE;
  if (code !== 'other_platform') return NOT_A_HANDLE;
  const platform = parseHandleAddress(text)?.platform;
  const right = platform === 'photo_app' || platform === 'video_app' ? `Enter it under ${LABELS[platform]}.` : '';
  return `This is an address of another platform. ${right || 'Enter it under the links to your work.'}`;
}

const links = z
  .string()
  .transform((text) => text.split(/\s+/).filter(Boolean).map(withScheme))
  .superRefine((urls, context) => {
    const problem = linkProblem(urls);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

function linkProblem(urls: readonly string[]): string | undefined {
  if (urls.length > MAX_LINKS) return `Give at most ${MAX_LINKS} links; there are ${urls.length}.`;
  const wrong = urls.findIndex((link) => !/^https:\/\/[^/]/i.test(link) || !URL.canParse(link));
  if (wrong >= 0) return `Link ${wrong + 1} must be a complete URL that begins with https://.`;
  const secret = urls.findIndex((link) => hasLogin(new URL(link)));
  if (secret >= 0) return `Link ${secret + 1} must not contain a user name or password.`;
  const long = urls.findIndex((link) => link.length > MAX_LINK);
  return long >= 0 ? `Link ${long + 1} is longer than ${MAX_LINK} characters.` : undefined;
}

/** The form's fields, with messages for the applicant. */
const Form = z.object({
  email: z
    .string()
    .trim()
    .min(1, 'Enter your email address.')
    .pipe(
      addressField(
        'Enter a complete email address, such as name@example.com.',
        'This is too long for an email address.',
      ),
    ),
  name: optional(
    z
      .string()
      .transform((text) => text.replace(/\s+/g, ' '))
      .pipe(z.string().max(200, 'Your name may have up to 200 characters.')),
  ),
  photo_app: handleOn('photo_app'),
  video_app: handleOn('video_app'),
  message: optional(
    z.string().max(MAX_MESSAGE, {
      error: ({ input }) => `Shorten your message to 5,000 characters; it has ${formatNumber(String(input).length)}.`,
    }),
  ),
  portfolio_urls: links,
});

export type FormValues = z.input<typeof Form>;
export type Problems = { [Field in keyof FormValues]?: string };

/** Hidden from people: only a program fills it in. */
export const DECOY = 'leave_empty';

export const EMPTY: FormValues = { email: '', name: '', photo_app: '', video_app: '', message: '', portfolio_urls: '' };

export interface FilledForm {
  /** As typed, to be displayed again. */
  values: FormValues;
  /** Problems in the order of the form's fields. */
  problems: Problems;
  /** Undefined if anything is wrong. */
  applying: ApplicationInput | undefined;
  isDecoy: boolean;
}

const FIELDS = Form.keyof().options;

/** Reads a form as browsers send it. If a field is sent several times, each value is a line. */
export function readApplying(body: Buffer): FilledForm {
  const form = readForm(body);
  const values = { ...EMPTY };
  for (const field of FIELDS) values[field] = form.text(field);
  const isDecoy = form.isTicked(DECOY);
  const parsed = Form.safeParse(values, { reportInput: true });
  const problems: Problems = {};
  for (const field of FIELDS) {
    const issue = parsed.error?.issues.find(({ path }) => path[0] === field);
    if (issue) problems[field] = issue.message;
  }
  if (!parsed.success) return { values, problems, applying: undefined, isDecoy };
  const { email, name, photo_app: photoApp, video_app: videoApp, message, portfolio_urls: portfolioUrls } = parsed.data;
  return { values, problems, applying: { email, name, photoApp, videoApp, message, portfolioUrls }, isDecoy };
}
