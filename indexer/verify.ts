import type { Command } from 'commander';
import { findDamage } from '../src/directory/imports/indexing/verify.ts';
import { assertVersion } from '../src/directory/imports/indexing/versions.ts';
import { indexBehind } from '../src/kit/engines/elastic/indices.ts';
import { filled } from '../src/process/commands/arguments.ts';
import { withDirectory } from './engines.ts';
import { print, say } from './terminal.ts';

export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check an index: its number of documents, a sample of them, its mapping, the alias')
    .argument('[index]', 'default: the live one', filled)
    .addHelpText('after', '\nPrints each problem on a line and exits with 1; prints nothing if there are none.')
    .action((name: string | undefined) =>
      withDirectory(async (engines) => {
        const index = name ?? (await indexBehind(engines.elastic, engines.alias));
        if (index === undefined) throw new Error(`The alias ${engines.alias} has no index.`);
        await assertVersion(engines, index);
        const damage = await findDamage(engines, index);
        for (const line of damage) print(line);
        if (damage.length > 0) throw new Error(`${index} is damaged; \`rollback\` or import again.`);
        say(`${index} is valid.`);
      }),
    );
}
