import type { Command } from 'commander';
import { type DirectoryStatus, readStatus } from '../src/directory/imports/indexing/status.ts';
import { withDirectory } from './engines.ts';
import { groupDigits, inMegabytes, paint, print } from './terminal.ts';

const at = (time: Date | null) => time?.toISOString() ?? 'unknown';

/** An import that no process runs resumes when its command is given again, or by itself if it was enqueued. */
function importLine({
  id,
  state,
  isRunning,
  files,
  position,
  progress,
  rejected,
  failure,
}: DirectoryStatus['imports'][number]): string {
  const now = isRunning || state === 'queued' ? state : failure ? 'failed' : 'stopped';
  const part = progress === null ? '' : `, ${Math.floor(progress * 100)}%`;
  const rejects = rejected > 0 ? `, ${groupDigits(rejected)} rejected` : '';
  return `${id} ${now}: ${groupDigits(position)} rows${part}${rejects} of ${files.join(', ')}${failure ? `; ${failure}` : ''}`;
}

function printStatus({ alias, live, previous, imports, held, writer, forgotten }: DirectoryStatus): void {
  if (live) {
    const size = `${groupDigits(live.documents)} creators, ${inMegabytes(live.bytes)}, ${live.segments} segments`;
    print(`${paint('bold', 'live')}      ${live.name}: ${size}, since ${at(live.swappedAt)}`);
  } else print(`The alias ${alias} has no index; \`import\` creates the directory.`);
  for (const { name, documents, bytes, retiredAt } of previous) {
    print(
      `previous  ${name}: ${groupDigits(documents)} creators, ${inMegabytes(bytes)}, until ${at(retiredAt)}; \`rollback ${name}\` makes it live`,
    );
  }
  for (const row of imports) print(`import    ${importLine(row)}`);
  if (held)
    print(
      `held      ${held.id} (${held.indexName}): ${held.failure ?? ''} \`diff\` shows values, \`approve ${held.id}\` makes it live`,
    );
  if (forgotten > 0) print(`forgotten ${groupDigits(forgotten)} opt-outs; see \`cli directory forgotten list\``);
  print(writer ? `writing   ${writer.holder}: ${writer.command} since ${at(writer.since)}` : 'writing   nobody');
}

export function statusCommand(program: Command): void {
  program
    .command('status')
    .description('the live index, previous ones, imports and the current writer')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExamples:\n  npm run --silent indexer -- status --json')
    .action((options: { json?: boolean }) =>
      withDirectory(async (engines) => {
        const status = await readStatus(engines);
        if (options.json) print(JSON.stringify(status, null, 2));
        else printStatus(status);
      }),
    );
}
