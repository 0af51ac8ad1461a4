import { readFileSync } from 'node:fs';
import { Command, Help, type Option } from 'commander';
import { z } from 'zod';

const BAD_USAGE = 2;

const Package = z.object({ version: z.string() });

/** The release, as `package.json` has it. */
function readVersion(): string {
  return Package.parse(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))).version;
}

const usual = new Help();

/** What a command cannot do without says so in its help. */
const optionDescription = (option: Option): string =>
  `${usual.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;

/** A program of ours: help, version, and 2 as the exit code of a command that is not understood. */
export function openProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .version(readVersion(), '--version', 'print the release')
    .configureHelp({ optionDescription })
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
}
