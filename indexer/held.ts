import type { Command } from 'commander';
import { approveImport, discardImport } from '../src/directory/imports/indexing/approve.ts';
import { compareIndices, SAMPLES } from '../src/directory/imports/indexing/judge.ts';
import { findHeld } from '../src/directory/imports/indexing/records.ts';
import { readStatus } from '../src/directory/imports/indexing/status.ts';
import { assertVersion } from '../src/directory/imports/indexing/versions.ts';
import type { DirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { indexBehind } from '../src/kit/engines/elastic/indices.ts';
import { filled, wholeNumber } from '../src/process/commands/arguments.ts';
import { onStop } from '../src/process/commands/signals.ts';
import { comparisonLines, identityLines, toJson } from './comparison.ts';
import { withDirectory } from './engines.ts';
import { groupDigits, print, say } from './terminal.ts';

async function approve(id: string, { wait }: { wait: boolean }): Promise<void> {
  await withDirectory(async (engines) => {
    const waiting = { onWait: wait ? say : undefined, signal: onStop() };
    const { index, previousIndex, lost } = await approveImport(engines, id, waiting);
    for (const { kind, file, rows, startedAt } of lost) {
      say(`Lost: ${kind} of ${groupDigits(rows)} rows from ${file}, ${startedAt.toISOString()}`);
    }
    say(`Live now${previousIndex ? `; ${previousIndex} is kept for a rollback` : ''}:`);
    print(index);
  });
}

async function discard(id: string, { wait }: { wait: boolean }): Promise<void> {
  await withDirectory(async (engines) => {
    const index = await discardImport(engines, id, { onWait: wait ? say : undefined, signal: onStop() });
    say('Removed:');
    print(index);
  });
}

/** The two versions to compare. By default: the live one with the held one, or the previous one with the live one. */
async function chooseVersions(engines: DirectoryEngines, from?: string, to?: string): Promise<[string, string]> {
  const live = await indexBehind(engines.elastic, engines.alias);
  if (live === undefined) throw new Error(`The alias ${engines.alias} has no index.`);
  if (from !== undefined) return [from, to ?? live];
  const held = (await findHeld(engines.db, engines.alias))?.indexName;
  if (held) return [live, held];
  const [previous] = (await readStatus(engines)).previous;
  if (!previous) throw new Error('Only one version is kept, so there is nothing to compare it with.');
  return [previous.name, live];
}

async function diff(
  from: string | undefined,
  to: string | undefined,
  { json, samples }: { json?: boolean; samples: number },
): Promise<void> {
  await withDirectory(async (engines) => {
    const [before, after] = await chooseVersions(engines, from, to);
    for (const index of [before, after]) await assertVersion(engines, index);
    const compared = await compareIndices(engines, before, after, { samples });
    if (json) return print(JSON.stringify(toJson(compared), null, 2));
    for (const line of [...comparisonLines(compared.comparison), ...identityLines(compared)]) print(line);
  });
}

export function heldCommands(program: Command): void {
  program
    .command('approve')
    .description('make a held import live')
    .argument('<id>', 'the import, as `status` names it', filled)
    .option('--no-wait', 'fail instead of waiting for another writer')
    .addHelpText('after', '\nRefused if something else went live since the import was compared.')
    .action(approve);
  program
    .command('discard')
    .description('remove a held import with its index')
    .argument('<id>', 'the import, as `status` names it', filled)
    .option('--no-wait', 'fail instead of waiting for another writer')
    .action(discard);
  program
    .command('diff')
    .description('show how two versions of the directory differ')
    .argument('[from]', 'an index; default: the live one if an import is held, or else the previous one', filled)
    .argument('[to]', 'an index; default: the held one, or else the live one', filled)
    .option('--json', 'as JSON')
    .option('--samples <number>', 'creators of each kind to name', wholeNumber(0, 1_000), SAMPLES)
    .action(diff);
}
