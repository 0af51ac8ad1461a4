import { type Command, InvalidArgumentError } from 'commander';
import { openPageLinks } from '../../kit/access/page-tokens.ts';
import type { OutgoingMail } from '../../kit/engines/mail.ts';
import { REASONS, releaseMails, setMailTrust } from '../../kit/mail/admission.ts';
import { findMail, listMails, type MailRow } from '../../kit/mail/mails.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { renderMail } from '../../kit/mail/render.ts';
import { inWork } from '../../kit/operation/work.ts';
import { Email } from '../../kit/values/email.ts';
import { newId } from '../../kit/values/ids.ts';
import { brandOption, filled, wholeNumber } from './arguments.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = ['id', 'kind', 'to', 'state', 'attempts', 'created_at', 'sent_at', 'reason', 'error'] as const;

const toItem = ({ id, kind, toEmail: to, state, attempts, createdAt, sentAt, reason, error }: MailRow) => ({
  id,
  kind,
  to,
  state,
  attempts,
  reason,
  error,
  created_at: createdAt.toISOString(),
  sent_at: sentAt?.toISOString() ?? null,
});

function address(value: string): string {
  const email = Email.safeParse(value).data;
  if (email === undefined) throw new InvalidArgumentError('must be an email address.');
  return email;
}

async function list({ db }: CommandEngines, options: { brand?: string; limit: number; json?: boolean }): Promise<void> {
  const brandId = options.brand === undefined ? undefined : (await getBrand(db, options.brand)).id;
  printList(COLUMNS, (await listMails(db, brandId, options.limit)).map(toItem), options.json);
}

/** Importing the nouns declares their templates. Commands that render nothing do not wait for it. */
const declareTemplates = () => import('../../interfaces/nouns.ts');

/** The mail as it is sent: rendered again from its row, with the same links. */
async function rendered({ db, config, secrets }: CommandEngines, id: string): Promise<[MailRow, OutgoingMail]> {
  const row = await findMail(db, id);
  if (!row) throw new Error(`No email ${JSON.stringify(id)}; see \`mail list\`.`);
  await declareTemplates();
  return [row, renderMail(row, openPageLinks(config, secrets()))];
}

const findLinks = ({ text }: OutgoingMail): string[] => text.match(/https?:\/\/\S+/g) ?? [];

async function show(engines: CommandEngines, id: string, json: boolean | undefined): Promise<void> {
  const [row, mail] = await rendered(engines, id);
  const { subject, text, html } = mail;
  if (json) {
    around().out.write(`${JSON.stringify({ ...toItem(row), subject, text, html, links: findLinks(mail) }, null, 2)}\n`);
    return;
  }
  const why = row.reason === null ? row.error : `${row.reason}: ${REASONS[row.reason]}`;
  const facts = [`${row.id}: ${row.kind}, ${row.state}`, ...(why === null ? [] : [why])];
  around().err.write(`${facts.join('\n')}\n`);
  around().out.write(
    `From: ${mail.fromName} <${engines.config.mailFrom}>\nTo: ${mail.to}\nSubject: ${subject}\n\n${text}`,
  );
}

async function open(engines: CommandEngines, id: string, json: boolean | undefined): Promise<void> {
  const links = findLinks((await rendered(engines, id))[1]);
  around().out.write(json ? `${JSON.stringify(links)}\n` : links.map((link) => `${link}\n`).join(''));
}

/** Queues a test mail, to check that mail arrives; the worker sends it. */
async function test({ db, clock }: CommandEngines, options: { brand?: string; to: string }): Promise<void> {
  await declareTemplates();
  const { id: brandId } = await getBrand(db, options.brand);
  const actor = { brandId, keyId: null, operation: 'cli_mail_test', requestId: null };
  const state = await inWork(db, clock, actor, async (work) => {
    const subjectRow = newId('tst', work.now.getTime());
    return await queueMail(work, {
      kind: 'mail_test',
      to: options.to,
      subjectRow,
      params: { at: work.now.toISOString() },
    });
  });
  around().out.write(`${state}\n`);
}

/** Without ids, releases all held and delayed mails of the brand. */
async function release({ db, clock }: CommandEngines, ids: string[], options: { brand?: string }): Promise<void> {
  if (ids.length > 0 === (options.brand !== undefined)) throw new Error('Give either ids or --brand.');
  const which = options.brand === undefined ? { ids } : { brandId: (await getBrand(db, options.brand)).id };
  around().out.write(`${await releaseMails(db, which, clock.now())}\n`);
}

async function trust({ db, clock }: CommandEngines, { brand, off }: { brand?: string; off?: boolean }): Promise<void> {
  const { id } = await getBrand(db, brand);
  await setMailTrust(db, id, off ? null : clock.now());
  around().out.write(`${id}\n`);
}

export function mailCommands(program: Command): void {
  const mail = program.command('mail').description('emails to creators and brands');
  mail
    .command('list')
    .description('the newest emails and their state')
    .option('--brand <id or name>', 'only this brand', filled)
    .option('--limit <number>', 'how many', wholeNumber(1, 1_000), 50)
    .addOption(jsonOption())
    .action((options: { brand?: string; limit: number; json?: boolean }) =>
      withEngines((engines) => list(engines, options)),
    );
  mail
    .command('show')
    .description('an email as its recipient sees it, with its links')
    .argument('<id>', "the email's id", filled)
    .option('--json', 'as JSON, with the HTML')
    .action((id: string, { json }: { json?: boolean }) => withEngines((engines) => show(engines, id, json)));
  mail
    .command('open')
    .description('the links in an email, one per line, to open as its recipient would')
    .argument('<id>', "the email's id", filled)
    .option('--json', 'as a JSON array')
    .action((id: string, { json }: { json?: boolean }) => withEngines((engines) => open(engines, id, json)));
  mail
    .command('release')
    .description('send held and delayed emails; prints how many')
    .argument('[ids...]', "the emails' ids")
    .option('--brand <id or name>', 'all of this brand', filled)
    .action((ids: string[], options: { brand?: string }) => withEngines((engines) => release(engines, ids, options)));
  mail
    .command('trust')
    .description("trust a brand: its name and links no longer hold emails, and it gets an established brand's limit")
    .addOption(brandOption())
    .option('--off', 'no longer trust it')
    .action((options: { brand?: string; off?: boolean }) => withEngines((engines) => trust(engines, options)));
  mail
    .command('test')
    .description('queue a test email; prints queued or suppressed')
    .addOption(brandOption())
    .requiredOption('--to <address>', 'the recipient', address)
    .action((options: { brand?: string; to: string }) => withEngines((engines) => test(engines, options)));
}
