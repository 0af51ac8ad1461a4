import { z } from 'zod';
import type { RawInput } from '../../kit/operation/input.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { utcTimestampInput } from '../../kit/values/page.ts';
import { currentWord } from './items.ts';

const Fields = z.record(z.string(), z.unknown());

/** Rewrites the body's fields. A body that is not an object is passed on, to be rejected by validation. */
function inBody(raw: RawInput, rewrite: (body: Record<string, unknown>) => Record<string, unknown>): RawInput {
  const body = Fields.safeParse(raw.body);
  return body.success && !Array.isArray(raw.body) ? { ...raw, body: rewrite(body.data) } : raw;
}

const refuse = (field: string, code: string, message: string): never => {
  const problem: Problem = { field, code, message };
  throw validationError([problem]);
};

/** Reads `live` as `active` and `organic_ugc` as `ugc`; the current values are accepted too. */
export function readCampaign(raw: RawInput): RawInput {
  const { status } = raw.query;
  const word = currentWord(status);
  const query = typeof word === 'string' ? { ...raw.query, status: word } : raw.query;
  return inBody({ ...raw, query }, (body) => ({
    ...body,
    ...('status' in body ? { status: currentWord(body.status) } : {}),
    ...('type' in body ? { type: currentWord(body.type) } : {}),
  }));
}

/** `code` is an alias of `value`, and `status` of `active`. */
export function readLink(raw: RawInput): RawInput {
  return inBody(raw, ({ code, status, ...body }) => {
    if (code !== undefined && body.value !== undefined && code !== body.value) {
      refuse('code', 'ambiguous', 'is an alias of `value`; send only one of them.');
    }
    if (status !== undefined && body.active !== undefined && (status === 'active') !== body.active) {
      refuse('status', 'ambiguous', 'means the same as `active`; send only one of them.');
    }
    if (status !== undefined && status !== 'active' && status !== 'disabled') {
      refuse('status', 'invalid_value', 'must be one of active, disabled.');
    }
    return {
      ...body,
      ...(code === undefined ? {} : { value: code }),
      ...(status === undefined ? {} : { active: status === 'active' }),
    };
  });
}

function readTime(field: string, text: string | string[] | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = utcTimestampInput.safeParse(text);
  return parsed.success
    ? parsed.data
    : refuse(field, 'invalid', 'must be a date, or an ISO 8601 time with an offset; send it once.');
}

/** Reads `from` and `to`, which select by creation time, both inclusive. A date in `to` includes the whole day. */
export function readCommissionWindow(raw: RawInput): RawInput {
  const { from: first, to: last, ...query } = raw.query;
  const from = readTime('from', first);
  const to = readTime('to', last);
  const isDay = typeof last === 'string' && !last.includes('T');
  const until = to && (isDay ? new Date(to.getTime() + DAY_MS - 1) : to);
  if (from && until && from > until) refuse('from', 'invalid', 'must not be after `to`.');
  return {
    ...raw,
    query: {
      ...query,
      ...(from ? { created_after: new Date(from.getTime() - 1).toISOString() } : {}),
      ...(until ? { created_before: until.toISOString() } : {}),
    },
  };
}

/** `address` has the three fields that the older interface knows of `shipping_address`. */
export function readShipment(raw: RawInput): RawInput {
  return inBody(raw, ({ address, ...body }) => {
    if (address === undefined) return body;
    if (body.shipping_address !== undefined) {
      refuse('address', 'ambiguous', 'is part of `shipping_address`; send only one of them.');
    }
    return { ...body, shipping_address: address };
  });
}
