import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import { z } from 'zod';
import { ignoreFailure } from '../values/errors.ts';
import { toPlainText } from '../values/text.ts';

export interface OutgoingMail {
  /** The row's id. The Message-ID is derived from it, so that mail clients recognise a mail that is sent twice. */
  id: string;
  fromName: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
  date: Date;
}

/** `refused`: the server will never accept this mail. `failed`: it may accept it later. */
export type MailOutcome =
  | { outcome: 'sent'; messageId: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'failed'; reason: string };

export interface Mailer {
  send(mail: OutgoingMail): Promise<MailOutcome>;
  /** Removes the files of mails; a server that sent them has them no longer. */
  remove(ids: readonly string[]): Promise<void>;
  close(): void;
}

export interface MailerOptions {
  /** `smtp:` or `smtps:`. Undefined: mails are written to `folder`. */
  smtpUrl: string | undefined;
  /** The sender address of mails. */
  from: string;
  folder: string;
}

const TIMEOUT_MS = 10_000;
const CONNECTIONS = 3;
const MAX_REASON = 500;

/** The error that nodemailer throws on a rejection: the response code, and the command it responds to. */
const Refusal = z.object({ responseCode: z.number(), command: z.string().optional() });
const Written = z.object({ message: z.instanceof(Buffer) });

/** A failed login is the operator's mistake, so the mail waits until it is fixed. */
const LOGIN = /^(?:AUTH|CONN|EHLO|HELO|STARTTLS)/i;

function toFailure(error: unknown): MailOutcome {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
  const { data } = Refusal.safeParse(error);
  const isFinal = data !== undefined && data.responseCode >= 500 && !LOGIN.test(data.command ?? '');
  return { outcome: isFinal ? 'refused' : 'failed', reason };
}

function toMessage(mail: OutgoingMail, from: string) {
  const { id, fromName, to, subject, text, html, headers, date } = mail;
  const messageId = `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`;
  return {
    messageId,
    date,
    text,
    html,
    subject: toPlainText(subject),
    from: { name: toPlainText(fromName), address: from },
    to: { name: '', address: to },
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    // A mail's text must not make us read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function openSmtp(url: string, from: string): Mailer {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  return {
    send: async (mail) => {
      const message = toMessage(mail, from);
      try {
        await transport.sendMail(message);
        return { outcome: 'sent', messageId: message.messageId };
      } catch (error) {
        return toFailure(error);
      }
    },
    remove: async () => undefined,
    close: () => transport.close(),
  };
}

/** Writes each mail to a file that only its owner can read. The file gets its name when it is complete. */
function openFolder(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true });
  return {
    send: async (mail) => {
      const message = toMessage(mail, from);
      try {
        const { message: bytes } = Written.parse(await transport.sendMail(message));
        const file = path.join(folder, `${mail.date.toISOString().replace(/[-:]|\.\d+/g, '')}-${mail.id}.eml`);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(`${file}.${process.pid}`, bytes, { mode: 0o600 });
        await rename(`${file}.${process.pid}`, file);
        return { outcome: 'sent', messageId: message.messageId };
      } catch (error) {
        return toFailure(error);
      }
    },
    remove: async (ids) => {
      const names = await readdir(folder).catch(ignoreFailure('no mail was written yet'));
      const isOf = (name: string) => ids.some((id) => name.endsWith(`-${id}.eml`));
      for (const name of names?.filter(isOf) ?? []) await rm(path.join(folder, name), { force: true });
    },
    close: () => transport.close(),
  };
}

/** Connects when the first mail is sent. */
export function openMailer({ smtpUrl, from, folder }: MailerOptions): Mailer {
  return smtpUrl === undefined ? openFolder(folder, from) : openSmtp(smtpUrl, from);
}
