import { z } from 'zod';
import { showAddress } from './email.ts';
import { timestamp } from './page.ts';

/*
 * Fields that mean the same in every noun. A field with a specific meaning is described in its noun's schema.
 */

/** Examples use this id in place of a brand's rows. */
export const EXAMPLE_ID = '0Uo3xK2mVdT2aXs7LpRb';
export const EXAMPLE_ORDER = '1001';
export const EXAMPLE_EMAIL = 'ana@example.com';

/** An id field, with an example that has its prefix. */
export const idField = (prefix: string, meaning: string) =>
  z
    .string()
    .describe(meaning)
    .meta({ example: `${prefix}_${EXAMPLE_ID}` });

export const createdAt = timestamp.describe('When it was created.').meta({ example: '2026-03-02T09:30:00.000Z' });

export const updatedAt = timestamp
  .nullable()
  .describe('When it was last changed; null if never.')
  .meta({ example: '2026-03-05T10:00:00.000Z' });

export const creatorEmail = z
  .string()
  .overwrite(showAddress)
  .nullable()
  .describe("The creator's email address; null when the brand only knows handles.")
  .meta({ example: EXAMPLE_EMAIL });

export const campaignId = z
  .string()
  .nullable()
  .describe('The campaign it belongs to; null when it belongs to none.')
  .meta({ example: `cmp_${EXAMPLE_ID}` });

/** The names under which the API knows the platforms. */
export const PLATFORM_NAMES = '`photo_app` is Instagram, `video_app` TikTok, `stream_app` YouTube';

const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** Codes that stand for no country. */
const NO_COUNTRIES: ReadonlySet<string> = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);

/** The code that a code in other use stands for: `GB` for `UK`; undefined if it is no country's. */
function toCountryCode(code: string): string | undefined {
  const { region = code } = new Intl.Locale(`und-${code}`);
  return NO_COUNTRIES.has(region) || regionNames.of(region) === undefined ? undefined : region;
}

/** ISO 3166 code of a country, upper-case. */
export const CountryCode = z
  .string()
  .regex(/^[A-Z]{2}$/, { error: 'must be an ISO 3166 code such as ES', abort: true })
  .superRefine((code, context) => {
    const ownCode = toCountryCode(code);
    if (ownCode === code) return;
    const message =
      ownCode === undefined ? 'must be an ISO 3166 code such as ES' : `must be the ISO 3166 code ${ownCode}`;
    context.addIssue({ code: 'custom', params: { code: 'invalid_format' }, message });
  })
  .meta({ example: 'ES' });

export const currencyField = z.string().describe('ISO 4217 code, such as `USD`.').meta({ example: 'USD' });
