import { runCli } from './process/commands/cli.ts';

const code = await runCli(process.argv.slice(2));
// Whatever a failed command left open must not keep its process.
if (code !== 0) process.exit(code);
