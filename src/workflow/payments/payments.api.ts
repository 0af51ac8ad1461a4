import { z } from 'zod';
import { get, put, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Email, showAddress } from '../../kit/values/email.ts';
import { CountryCode, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import { timestamp } from '../../kit/values/page.ts';
import { getRecord } from '../roster/roster.ts';
import { paymentMails } from './payments.mails.ts';
import { type CurrentProfile, findProfile, type PaymentDetails, setPayment } from './payments.ts';

const details = {
  method: z
    .enum(['wallet', 'bank_transfer', 'manual'])
    .nullable()
    .describe('How the creator wants to be paid; null when not given.')
    .meta({ example: 'wallet' }),
  wallet_email: z
    .string()
    .overwrite(showAddress)
    .nullable()
    .describe('Address to which wallet payments go; null: the email address.')
    .meta({ example: 'pay@ana.example' }),
  legal_name: z
    .string()
    .nullable()
    .describe('Name of the person or company that is paid; null when not given.')
    .meta({ example: 'Ana Ortiz' }),
  country: z
    .string()
    .nullable()
    .describe('ISO 3166 code of the country of the payee; null when not given.')
    .meta({ example: 'ES' }),
  currency: z
    .string()
    .nullable()
    .describe('Currency in which the creator wants to be paid; null when not given.')
    .meta({ example: 'EUR' }),
};

const source = z
  .enum(['mail', 'brand', 'creator'])
  .describe('Who gave the address: `mail`: nobody, so the email address is paid.')
  .meta({ example: 'brand' });

const PaymentProfile = z
  .object({
    creator_id: idField('crt', 'Creator who is paid.'),
    ...details,
    source,
    state: z
      .enum(['active', 'waiting'])
      .describe('`waiting`: a change waits until `effective_at`, and nothing is paid until then.'),
    waiting: z
      .object({
        ...details,
        source,
        effective_at: timestamp.describe('When the change takes effect.').meta({ example: '2026-03-23T12:00:00.000Z' }),
      })
      .nullable()
      .describe('The change that waits; null without one.')
      .meta({ example: null }),
  })
  .meta({ id: 'PaymentProfile' });

const PaymentProfilePut = z
  .object({
    method: details.method.optional(),
    wallet_email: Email.nullable().optional().describe('Address to which wallet payments go; null: the email address.'),
    legal_name: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .nullable()
      .optional()
      .describe('Name of the person or company that is paid.')
      .meta({ example: 'Ana Ortiz' }),
    country: CountryCode.nullable()
      .optional()
      .describe('ISO 3166 code of the country of the payee.')
      .meta({ example: 'ES' }),
    currency: Currency.nullable().optional().describe('Currency in which the creator wants to be paid.'),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    path: ['wallet_email'],
    message: 'is required, or another field; use DELETE to pay at the email address again',
  })
  .meta({ id: 'PaymentProfilePut' });

const toWireDetails = ({ method, walletEmail, legalName, country, currency, source }: PaymentDetails) => ({
  method,
  wallet_email: walletEmail,
  legal_name: legalName,
  country,
  currency,
  source: walletEmail === null ? ('mail' as const) : (source ?? ('brand' as const)),
});

const toProfile = (creatorId: string, { waiting, effectiveAt, ...own }: CurrentProfile) => ({
  creator_id: creatorId,
  ...toWireDetails(own),
  state: waiting === null ? ('active' as const) : ('waiting' as const),
  waiting:
    waiting === null || effectiveAt === null
      ? null
      : { ...toWireDetails(waiting), effective_at: effectiveAt.toISOString() },
});

const RosterParams = z.object({ id: idField('rst', 'Roster id of the creator, as `list_roster` gives it.').max(100) });
const one = { path: '/v1/roster/{id}/payment', tag: 'Payouts', item: PaymentProfile, params: RosterParams } as const;
const CHANGING =
  'The first address takes effect at once if the creator has never been paid. A later change waits 72 hours: the old address ' +
  'gets an email and can stop the change, or confirm it, which ends the wait. Until then nothing is paid to the creator.';

export const paymentsNoun = noun({
  name: 'payments',
  operations: [
    get({
      ...one,
      id: 'get_payment_profile',
      summary: 'Get where a creator is paid',
      description:
        'Without a profile, the creator is paid at the email address. Account numbers and tax ids are not kept.',
      forAgents: { isListed: false },
      find: async ({ postgres: { db }, clock }, { caller: { brandId }, params }) => {
        const { creatorId } = await getRecord(db, brandId, params.id);
        return toProfile(creatorId, await findProfile(db, brandId, creatorId, clock.now()));
      },
    }),
    put({
      ...one,
      id: 'set_payment_profile',
      summary: 'Set where a creator is paid',
      description: `Fields that are left out become null. ${CHANGING}`,
      forAgents: {
        isListed: false,
        description:
          'Once the creator was paid, another address waits 72 hours: the old one is told and can stop or confirm it. Until then nothing is paid.',
      },
      body: PaymentProfilePut,
      errors: ['NOT_FOUND'],
      ownersOnly: true,
      hints: { planned: true },
      apply: async (work, { params, body }) => {
        const { creatorId } = await getRecord(work.db, work.brandId, params.id);
        const { method = null, wallet_email = null, legal_name = null, country = null, currency = null } = body;
        const next = { method, walletEmail: wallet_email, legalName: legal_name, country, currency };
        return toProfile(creatorId, await setPayment(work, creatorId, { ...next, source: 'brand' }));
      },
    }),
    remove({
      ...one,
      id: 'remove_payment_profile',
      summary: 'Pay a creator at the email address again',
      description: `A change like any other. ${CHANGING}`,
      forAgents: { isListed: false, description: CHANGING },
      errors: ['NOT_FOUND'],
      ownersOnly: true,
      hints: { planned: true },
      apply: async (work, { params }) => {
        const { creatorId } = await getRecord(work.db, work.brandId, params.id);
        const none = { method: null, walletEmail: null, legalName: null, country: null, currency: null };
        return toProfile(creatorId, await setPayment(work, creatorId, { ...none, source: null }));
      },
    }),
  ],
  mails: paymentMails,
});
