import { Command, Help, type Option } from 'commander';
import { RELEASE } from '../../values/release.ts';

const BAD_USAGE = 2;

const usual = new Help();

/** What a command cannot do without says so in its help. */
const optionDescription = (option: Option): string =>
  `${usual.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;

/** Lets a command finish when its reader has gone, as in `jobs list | head`. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** A program of ours: help, version, and 2 as the exit code of a command that is not understood. */
export function openProgram(name: string, description: string): Command {
  process.stdout.on('error', ignoreClosedPipe);
  return new Command(name)
    .description(description)
    .version(RELEASE, '--version', 'print the version')
    .configureHelp({ optionDescription })
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
}
