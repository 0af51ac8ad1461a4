/** Imports one file like `indexer import` and prints the report as JSON: `node run-import.ts <file>`. */
import { withDirectory } from '../indexer/engines.ts';
import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { openFiles } from '../src/directory/imports/indexing/source.ts';

const [file] = process.argv.slice(2);
if (!file) throw new Error('Usage: node run-import.ts <file>');

await withDirectory(async (engines) => {
  const from = performance.now();
  const { documents, phasesMs } = await importDirectory(engines, {
    source: await openFiles([file]),
    bounds: { mode: 'force' },
  });
  process.stdout.write(JSON.stringify({ documents, phasesMs, totalMs: performance.now() - from }));
});
