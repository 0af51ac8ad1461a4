import { type Command, InvalidArgumentError } from 'commander';
import { type ForgottenRecord, forget, getForgotten, listOptOuts, remember } from '../../directory/opt-out/forget.ts';
import type { Name } from '../../directory/opt-out/hashes.ts';
import { Email } from '../../kit/values/email.ts';
import { filled, wholeNumber } from './arguments.ts';
import { around } from './around.ts';
import { withDirectory } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = [
  ...(['id', 'named', 'requested_by', 'created_at', 'finished_at', 'remembered_at', 'creators', 'reason'] as const),
];

const sum = (removed: ForgottenRecord['removed']) => removed.reduce((total, { creators }) => total + creators, 0);

const toItem = (record: ForgottenRecord) => ({
  id: record.id,
  named: record.named,
  reason: record.reason,
  requested_by: record.requestedBy,
  created_at: record.createdAt.toISOString(),
  finished_at: record.finishedAt?.toISOString() ?? null,
  remembered_at: record.rememberedAt?.toISOString() ?? null,
});

function describeSubject(text: string): Name {
  const value = text.trim();
  const pk = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(pk)) return { kind: 'pk', value: pk };
  if (/^@[^@\s]+$/.test(value)) return { kind: 'username', value: value.slice(1) };
  const email = Email.safeParse(value).data;
  if (email !== undefined) return { kind: 'email', value: email };
  throw new InvalidArgumentError('must be a pk, a username such as @gordongram, or an email address.');
}

function printRecord(record: ForgottenRecord, json: boolean | undefined): void {
  const { removed, kept, pks } = record;
  if (json) {
    around().out.write(`${JSON.stringify({ ...toItem(record), pks, removed, kept_by_brands: kept }, null, 2)}\n`);
    return;
  }
  const lines = [
    ...Object.entries(toItem(record)).map(([name, value]) => `${name}\t${value ?? '-'}`),
    `pks\t${pks.join(', ') || '-'}`,
    ...removed.map(({ index, creators }) => `removed\t${index}: ${creators}`),
    ...kept.map(({ brand_id, creator_id }) => `kept by brand\t${brand_id}: ${creator_id}`),
  ];
  around().out.write(lines.map((line) => `${line}\n`).join(''));
}

export function directoryCommands(program: Command): void {
  const directory = program.command('directory').description('creators who opted out of the directory');
  directory
    .command('forget')
    .description('remove a creator from every version for good; prints the id of the opt-out')
    .argument(
      '<pk, @username or email>',
      'a pk or username names one creator, an email everyone who shows it',
      describeSubject,
    )
    .requiredOption('--reason <text>', 'why, for the record', filled)
    .action((name: Name, { reason }: { reason: string }) =>
      withDirectory(async (engines) => {
        const { id, removed, kept } = await forget(engines, name, { reason, by: 'operator' });
        const places = `Documents removed: ${sum(removed)}, from ${removed.length} of the directory's versions.`;
        around().err.write(`${places} Records that brands keep: ${kept.length}.\n`);
        around().out.write(`${id}\n`);
      }),
    );
  const forgotten = directory.command('forgotten').description('the record of opt-outs; it does not name anyone');
  forgotten
    .command('list')
    .description('opt-outs, newest first')
    .option('--limit <number>', 'how many', wholeNumber(1, 10_000), 50)
    .addOption(jsonOption())
    .action(({ limit, json }: { limit: number; json?: boolean }) =>
      withDirectory(async (engines) => {
        const records = await listOptOuts(engines, limit);
        const items = records.map((record) => ({ ...toItem(record), creators: record.pks.length }));
        printList(COLUMNS, items, json);
      }),
    );
  forgotten
    .command('show')
    .description('what was removed where, and what brands keep themselves')
    .argument('<id>', 'the opt-out', filled)
    .option('--json', 'as JSON')
    .action((id: string, { json }: { json?: boolean }) =>
      withDirectory(async (engines) => printRecord(await getForgotten(engines, id), json)),
    );
  directory
    .command('remember')
    .description('withdraw an opt-out: the next import or upsert may add the creator again')
    .argument('<id>', 'the opt-out', filled)
    .action((id: string) =>
      withDirectory(async (engines) => {
        await remember(engines, id);
        around().out.write(`${id}\n`);
      }),
    );
}
