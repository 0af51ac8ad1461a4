import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** A tool's flags. `--help` prints how it is used and ends it; anything unknown ends it with exit code 2. */
export function readFlags<T extends ParseArgsOptionsConfig>(usage: string, options: T) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    process.exit(2);
  }
}
