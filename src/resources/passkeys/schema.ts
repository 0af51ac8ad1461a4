import { z } from 'zod';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';

export const Passkey = z
  .object({ id: z.string(), name: z.string(), created_at: timestamp, last_used_at: timestamp.nullable() })
  .meta({ id: 'Passkey' });
export const PasskeyFilter = z.object({ ...ListQuery });
export const PasskeyList = listOf(Passkey).meta({ id: 'PasskeyList' });
export const PasskeyAnswer = z.object({ data: Passkey }).meta({ id: 'PasskeyAnswer' });

/** The page's `location.origin`. The passkey signs in on this origin alone, which is that of `API_URL` where that is set. */
const origin = z.url({ protocol: /^https?$/ }).max(300);

export const PasskeyBegin = z.object({ origin }).meta({ id: 'PasskeyBegin' });
export const PasskeyOptions = z
  .object({
    data: z.object({
      challenge_id: z.string(),
      options: z.record(z.string(), z.unknown()).describe('For `navigator.credentials.create`, as JSON.'),
    }),
  })
  .meta({ id: 'PasskeyOptions' });

const text = z.string().max(20_000);
const Attestation = z.object({
  id: text,
  rawId: text,
  type: z.literal('public-key'),
  response: z.looseObject({
    clientDataJSON: text,
    attestationObject: text,
    transports: z.array(z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])).optional(),
  }),
  clientExtensionResults: z.looseObject({}),
  authenticatorAttachment: z.enum(['cross-platform', 'platform']).optional(),
});

export const PasskeyCreate = z
  .object({ name: z.string().trim().min(1).max(100), origin, challenge_id: z.string().max(100), response: Attestation })
  .meta({ id: 'PasskeyCreate' });
export type PasskeyCreate = z.output<typeof PasskeyCreate>;

export const Assertion = z.object({
  challenge_id: z.string().max(100),
  response: z.object({
    id: text,
    rawId: text,
    type: z.literal('public-key'),
    response: z.looseObject({ clientDataJSON: text, authenticatorData: text, signature: text }),
    clientExtensionResults: z.looseObject({}),
    authenticatorAttachment: z.enum(['cross-platform', 'platform']).optional(),
  }),
});
export type Assertion = z.output<typeof Assertion>;
