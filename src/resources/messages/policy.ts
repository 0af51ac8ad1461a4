import { ApiError } from '../../values/errors.ts';
import { type ContactKind, contactsIn } from './contact-guard.ts';

/** How many replies a creator may send in an hour. */
export const REPLIES_PER_HOUR = 20;

const NAMES: Readonly<Record<ContactKind, string>> = { email: 'an e-mail address', phone: 'a phone number' };

/** The kinds of contact details in a message's subject or text. */
export function contactsOf({ subject, body }: { subject?: string | null | undefined; body: string }): ContactKind[] {
  return [...new Set([...contactsIn(subject ?? ''), ...contactsIn(body)])].sort();
}

export const inWords = (found: readonly ContactKind[]): string => found.map((kind) => NAMES[kind]).join(' and ');

/** Throws CONTACT_INFO_BLOCKED with the kind of contact that was found, but not its text. */
export function assertNoContacts(message: { subject?: string | null | undefined; body: string }): void {
  const matched = contactsOf(message);
  if (matched.length === 0) return;
  const text = `The message contains ${inWords(matched)}; remove it, because messages must not contain contact details.`;
  throw new ApiError('CONTACT_INFO_BLOCKED', text, { facts: { matched } });
}
