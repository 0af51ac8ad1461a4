import type { Command } from 'commander';
import { ensurePersonToSignIn } from '../../platform/people/people.ts';
import { createSignInPath } from '../../platform/people/sessions.ts';
import { brandOption, filled } from './arguments.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { withEngines } from './open.ts';

export function signInCommands(program: Command): void {
  program
    .command('sign-in')
    .description(
      "print a link that signs in to the web app once, within 15 minutes, as the brand's first owner or as --email",
    )
    .addOption(brandOption())
    .option('--email <address>', 'one of its people; for a brand without people, its new first owner', filled)
    .action((options: { brand?: string; email?: string }) =>
      withEngines(async (engines) => {
        const brand = await getBrand(engines.db, options.brand);
        const person = await ensurePersonToSignIn(engines, brand.id, options.email);
        const who = { brandId: brand.id, personId: person.id };
        const path = await createSignInPath(engines.db, engines.clock.now(), who);
        around().out.write(`${engines.serverUrl}${path}\n`);
        around().err.write(`For ${person.email}, ${person.role} of ${brand.name}; once, within 15 minutes.\n`);
      }),
    );
}
