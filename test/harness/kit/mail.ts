import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { OutgoingMail } from '../../../src/kit/engines/mail.ts';
import { listMails } from '../../../src/kit/mail/mails.ts';
import { renderMail } from '../../../src/kit/mail/render.ts';
import type { Context } from '../../../src/kit/operation/context.ts';

export interface Received {
  from: string;
  to: string[];
  raw: string;
}

export interface TestSmtp {
  url: string;
  received: Received[];
  /** What the next recipients are answered: a code of SMTP, or undefined to take the mail. */
  answers: (number | undefined)[];
  close(): Promise<void>;
}

/** A real SMTP server that keeps what it is sent. */
export async function startSmtp(): Promise<TestSmtp> {
  const received: Received[] = [];
  const answers: (number | undefined)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) => {
      const code = answers.shift();
      if (code === undefined) return void done();
      done(Object.assign(new Error('not now, or never'), { responseCode: code }));
    },
    onData: (stream, { envelope }, done) => {
      text(stream).then((raw) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        received.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw });
        done();
      }, done);
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    ...{ received, answers, url: `smtp://127.0.0.1:${port}` },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The mails of a brand as their readers get them, the newest first; none has to be sent for it. */
export async function mailsOf(
  { postgres, pageLinks }: Context,
  brandId: string,
): Promise<(OutgoingMail & { kind: string; state: string; links: string[] })[]> {
  const rows = await listMails(postgres.db, brandId, 1_000);
  return rows.map((row) => {
    const mail = renderMail(row, pageLinks);
    return { ...mail, kind: row.kind, state: row.state, links: mail.text.match(/https?:\/\/\S+/g) ?? [] };
  });
}

/** The path of a page's link: with `app.links` before it, as this app serves it. */
export const pathOf = (link: string): string => new URL(link).pathname;
