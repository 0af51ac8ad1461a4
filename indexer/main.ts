import { runIndexer } from './run.ts';

process.exitCode = await runIndexer(process.argv.slice(2));
