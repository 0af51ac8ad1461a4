import { z } from 'zod';
import { timeText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

/** An owner invites an address to the brand's web app. */
const invitation = template({
  audience: 'invited',
  params: z.object({ link_id: z.string(), invited_by: z.string(), expires_at: z.iso.datetime() }),
  write: ({ link_id, invited_by, expires_at }, { brandName, urlOf }) => ({
    subject: `${invited_by} invites you to ${brandName}`,
    paragraphs: [`You may now work in the web app of ${brandName}.`, 'The link works once.'],
    facts: [['Good until', timeText(new Date(expires_at))]],
    action: {
      label: 'Sign in',
      url: urlOf({ kind: 'enter', rowId: link_id, version: 0, expiresAt: new Date(expires_at) }),
    },
  }),
});

/** A sign-in link to the brand's web app that works once and expires soon. */
const signIn = template({
  audience: 'brand',
  params: z.object({ link_id: z.string(), expires_at: z.iso.datetime() }),
  write: ({ link_id, expires_at }, { brandName, urlOf }) => ({
    subject: `Sign in to ${brandName}`,
    paragraphs: [
      'This link was requested with your address. If you did not request it, ignore this email: the link expires.',
      'The link works once.',
    ],
    facts: [['Good until', timeText(new Date(expires_at))]],
    action: {
      label: 'Sign in',
      url: urlOf({ kind: 'enter', rowId: link_id, version: 0, expiresAt: new Date(expires_at) }),
    },
  }),
});

/** Tells a person of a passkey, which somebody else with their session may have added. */
const passkeyAdded = template({
  audience: 'brand',
  params: z.object({ name: z.string() }),
  write: ({ name }, { brandName, createdAt, appUrlOf }) => ({
    subject: `A passkey was added to your account at ${brandName}`,
    paragraphs: [
      'It can sign in as you. If you did not add it, remove it: that ends your other sessions and what you let in.',
    ],
    facts: [
      ['Passkey', name],
      ['Added', timeText(createdAt)],
    ],
    action: { label: 'See your passkeys', url: appUrlOf('settings') },
  }),
});

export const peopleMails = mails({
  invitation,
  sign_in: signIn,
  passkey_added: passkeyAdded,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof peopleMails> {}
}
