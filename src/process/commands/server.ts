import { wholeNumber } from './arguments.ts';
import { openProgram, parseOptions } from './program.ts';

export const SAMPLE_CREATORS = 20_000;

export interface ServerOptions {
  creators?: number;
  port?: number;
  empty?: true;
}

/** Parses the arguments of `npm start`; ends the process for `--help` and for invalid ones. */
export function readServerOptions(): ServerOptions {
  const program = openProgram(
    'rollcall',
    'The Rollcall API. Engines without a URL in the environment are embedded, with sample data and a demo brand.',
  )
    .option(
      '--creators <number>',
      `creators in the sample directory (default ${SAMPLE_CREATORS})`,
      wholeNumber(1, 99_999_999),
    )
    .option(
      '--port <number>',
      'port to listen on, 0 for any (default 8080, or the next free one); short links use the next port, or LINKS_PORT',
      wholeNumber(0, 65_535),
    )
    .option('--empty', 'the demo brand without its sample of 90 days; also removes an existing sample');
  return parseOptions(program);
}
