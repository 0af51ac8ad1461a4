import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

/** Builds the web app's client into the given folder, with compressed copies of each file. */
const folder = process.argv[2] ?? '';
await build({
  configFile: path.join(import.meta.dirname, 'vite.config.ts'),
  logLevel: 'error',
  build: { outDir: folder },
});

const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
const assets = path.join(folder, 'assets');
for (const name of await readdir(assets)) {
  if (!/\.(?:js|css|svg)$/.test(name)) continue;
  const file = path.join(assets, name);
  const bytes = await readFile(file);
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, brotli));
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes));
}
