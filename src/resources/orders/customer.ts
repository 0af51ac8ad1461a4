import { keyedHash, type Secrets } from '../../values/secrets.ts';

/** Of what is before and after the `@` and of its last label, one character each is shown: `j***@e***.com`. */
export function maskEmail(email: string): string {
  const match = /^(.).*@(.).*?(\.[^.@]*)?$/su.exec(email.replaceAll('\0', '').toWellFormed().trim());
  if (!match) return '***';
  const [, local, domain, suffix = ''] = match;
  return `${local}***@${domain}***${suffix}`;
}

/** The same text for every spelling of a mailbox: without case, surrounding spaces and any `+` suffix. */
function folded(email: string): string {
  const text = email.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `${text.slice(0, at).replace(/(?<=.)\+.*$/s, '')}${text.slice(at)}`;
}

/** Recognizes the same person again. It is never shown, and useless without the installation's secret. */
export function hashEmail(secrets: Secrets, email: string): Buffer {
  return keyedHash(secrets.key('customer'), folded(email));
}
