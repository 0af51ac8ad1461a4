import { Command, CommanderError, Help, InvalidArgumentError, type Option } from 'commander';
import { ApiError } from '../../kit/values/errors.ts';
import { RELEASE } from '../../kit/values/release.ts';
import { writeAbove } from '../../local/last-line.ts';
import { readMore } from '../read-more.ts';
import { around } from './around.ts';
import { explainFile } from './files.ts';
import { stopSignal } from './signals.ts';

const FAILED = 1;
const BAD_USAGE = 2;

const usual = new Help();

/** The help marks mandatory options. */
const optionDescription = (option: Option): string =>
  `${usual.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;

/** Lets a command finish when its reader has gone, as in `jobs list | head`. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** 0 after `--help`, otherwise that of invalid arguments. */
const toExitCode = ({ exitCode }: CommanderError): number => (exitCode === 0 ? 0 : BAD_USAGE);

/** A command-line program with help and version, whose exit code for invalid arguments is 2. */
export function openProgram(name: string, description: string): Command {
  if (!process.stdout.listeners('error').includes(ignoreClosedPipe)) process.stdout.on('error', ignoreClosedPipe);
  return new Command(name)
    .description(description)
    .version(RELEASE, '--version', 'print the version')
    .configureHelp({ optionDescription })
    .configureOutput({ writeOut: (text) => around().out.write(text), writeErr: (text) => around().err.write(text) })
    .showHelpAfterError('Add --help to see what it takes.')
    .addHelpText('after', '\nThe manual is in docs/, and at /manual of a running server.')
    .exitOverride();
}

interface ProgramOptions {
  exitCodeAfter?: (error: unknown) => number;
  /** The page of the manual that helps after a failure. */
  page?: string;
}

/**
 * Runs the command that the arguments name, and returns its exit code. A failure is said without its stack; one of our rules,
 * with the page of the manual that explains it.
 */
export async function runProgram(
  program: Command,
  args: readonly string[],
  { exitCodeAfter = () => stopSignal()?.exitCode ?? FAILED, page }: ProgramOptions = {},
): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return around().exitCode;
  } catch (error) {
    // Commander has said what it found itself; what a command throws has not been said.
    if (error instanceof CommanderError && !(error instanceof InvalidArgumentError)) return toExitCode(error);
    const text = explainFile(error) ?? (error instanceof Error ? error.message : String(error));
    const help = page !== undefined && error instanceof ApiError && error.status < 500 ? `${readMore(page)}\n` : '';
    writeAbove(around().err, `${text}\n${help}`);
    return exitCodeAfter(error);
  }
}

/** Parses the arguments of a program that has no commands. Ends the process for `--help` and for invalid arguments. */
export function parseOptions<Options extends object>(program: Command): Options {
  try {
    return program.parse().opts<Options>();
  } catch (error) {
    if (error instanceof CommanderError) process.exit(toExitCode(error));
    throw error;
  }
}
