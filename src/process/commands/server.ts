import { wholeNumber } from './arguments.ts';
import { openProgram } from './program.ts';

export const SAMPLE_CREATORS = 20_000;

export interface ServerOptions {
  creators?: number;
  port?: number;
}

/** What `npm start` was told; ends the process for `--help` and for what it cannot read. */
export function readServerOptions(): ServerOptions {
  return openProgram(
    'rollcall',
    'The Rollcall API. Engines without a URL in the environment are embedded, with sample data and a demo brand.',
  )
    .option(
      '--creators <number>',
      `creators of the sample directory (default ${SAMPLE_CREATORS})`,
      wholeNumber(1, 99_999_999),
    )
    .option(
      '--port <number>',
      'port to listen on, 0 for any (default 8080, or the next free one); short links are on the one after, or on LINKS_PORT',
      wholeNumber(0, 65_535),
    )
    .parse()
    .opts<ServerOptions>();
}
