import { Command } from 'commander';

/** A command of this folder; what it does not know ends it with 2, so that 1 is left for a floor that is missed. */
export function benchCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
}
