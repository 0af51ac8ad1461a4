import { z } from 'zod';
import { foldAccents } from '../../kit/values/fold.ts';
import { readHandle } from '../../kit/values/handle-address.ts';
import { DirectoryCreator, SAMPLE_PK } from './creator.shapes.ts';

/** Values that one search looks up together. */
export const LOOKED_UP_AT_MOST = 100;
/** Values that a brand looks up in one call. */
export const BRAND_AT_MOST = 1_000;

const { pk } = DirectoryCreator.shape;
const MAX_EMAIL = 320;

const withoutAt = (value: string) => value.trim().replace(/^@/, '');

/** The username that a text means: that of a profile's address, or the text itself, which then may be nobody's. */
export function toUsername(text: string): string {
  const reading = readHandle(text, 'photo_app');
  return 'handle' in reading ? reading.handle : text;
}

/** The first of the values that mean the same, as it was sent. */
function distinct(values: readonly string[]): string[] {
  const foldedNames = values.map((value) => foldAccents(toUsername(value)));
  return values.filter((_, i) => foldedNames.indexOf(foldedNames[i] ?? '') === i);
}

const notBlank = (values: readonly string[]) => values.every((value) => foldAccents(value) !== '');
const BLANK = 'must have no blank value between commas';

const splitValues = (value: string) => value.split(',').map(withoutAt);
const PK = /^\d{1,16}$/;

/** Keys separated by commas; the caller describes them. */
export const commaSeparatedPks = (most: number) =>
  z
    .string()
    .max(most * 18)
    .transform(splitValues)
    .refine(
      (values) => values.every((value) => PK.test(value) && Number.isSafeInteger(Number(value))),
      'must be whole numbers separated by commas',
    )
    .transform((values) => [...new Set(values.map(Number))])
    .pipe(z.array(z.number().int().min(0)).max(most, `must have at most ${most} keys`))
    .optional();

// Without examples: the docs page would send all of them at once.
export const pks = commaSeparatedPks(LOOKED_UP_AT_MOST).describe('Only these creators: `pk`s, separated by commas.');

const texts = (most: number, description: string) =>
  z
    .string()
    .max(LOOKED_UP_AT_MOST * (most + 2))
    .transform(splitValues)
    .pipe(z.array(z.string().max(most)).refine(notBlank, BLANK))
    .transform(distinct)
    .pipe(z.array(z.string()))
    .describe(description)
    .optional();

export const usernames = texts(
  500,
  'Only these usernames or addresses of Instagram profiles, separated by commas; `@` is ignored.',
);
export const emails = texts(MAX_EMAIL, 'Only these email addresses, separated by commas.');

export const NotFound = z
  .object({
    pks: z
      .array(pk)
      .describe('Keys that no creator has.')
      .meta({ example: [4] }),
    usernames: z
      .array(z.string())
      .describe('Usernames that no creator has, as sent.')
      .meta({ example: ['nobody'] }),
    emails: z.array(z.string()).describe('Email addresses that no creator has, as sent.').meta({ example: [] }),
  })
  .meta({ id: 'CreatorsNotFound' });
export type NotFound = z.infer<typeof NotFound>;

const createValues = (most: number) =>
  z
    .array(z.string().max(most))
    .transform((values) => values.map(withoutAt))
    .refine(notBlank, 'must have no blank value')
    .transform(distinct)
    .default([]);

export const CreatorLookUp = z
  .object({
    pks: z
      .array(pk)
      .transform((values) => [...new Set(values)])
      .default([])
      .describe('Keys of creators to look up.')
      .meta({ example: [SAMPLE_PK] }),
    usernames: createValues(500)
      .describe('Usernames or addresses of Instagram profiles to look up; case, accents and `@` are ignored.')
      .meta({ example: ['@gordongram'] }),
    emails: createValues(MAX_EMAIL)
      .describe('Email addresses to look up.')
      .meta({ example: ['gordon@example.com'] }),
  })
  .refine(({ pks, usernames, emails }) => pks.length + usernames.length + emails.length > 0, {
    path: ['pks'],
    message: 'or usernames or emails must have a value',
  })
  .refine(({ pks, usernames, emails }) => pks.length + usernames.length + emails.length <= BRAND_AT_MOST, {
    path: ['pks'],
    message: `usernames and emails must have at most ${BRAND_AT_MOST} values together`,
  });

export const CreatorLookUpAnswer = z.object({
  data: z
    .array(DirectoryCreator)
    .describe(`The creators in the order of the request: keys, usernames, email addresses; at most ${BRAND_AT_MOST}.`),
  meta: z
    .object({ not_found: NotFound.describe('The values sent that the directory does not have.') })
    .describe('What was not found.'),
});
