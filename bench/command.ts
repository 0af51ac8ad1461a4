import { Command } from 'commander';

/** A command of this folder. Invalid arguments end it with 2, so that 1 only means a missed floor. */
export function benchCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
}
