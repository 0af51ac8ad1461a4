import { Command, Help, type Option } from 'commander';
import { RELEASE } from '../../values/release.ts';

const BAD_USAGE = 2;

const usual = new Help();

/** The help marks mandatory options. */
const optionDescription = (option: Option): string =>
  `${usual.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;

/** Lets a command finish when its reader has gone, as in `jobs list | head`. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** A command-line program with help and version, whose exit code for invalid arguments is 2. */
export function openProgram(name: string, description: string): Command {
  process.stdout.on('error', ignoreClosedPipe);
  return new Command(name)
    .description(description)
    .version(RELEASE, '--version', 'print the version')
    .configureHelp({ optionDescription })
    .showHelpAfterError('Add --help to see what it takes.')
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
}
