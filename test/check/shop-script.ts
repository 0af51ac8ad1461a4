import { readFile, writeFile } from 'node:fs/promises';
import { minify } from 'rolldown/utils';

const FOLDER = 'src/interfaces/links-host/shop-script';
const SERVED = `${FOLDER}/r.min.js`;

async function minifyScript(): Promise<string> {
  const { code, errors } = await minify('r.js', await readFile(`${FOLDER}/r.js`, 'utf8'));
  const [error] = errors;
  if (error) throw error;
  return `${code}\n`;
}

/** The script that shops load is the minified form of its source. */
export async function shopScriptDrift(): Promise<string[]> {
  const isSame = (await readFile(SERVED, 'utf8')) === (await minifyScript());
  return isSame ? [] : [`${SERVED} differs from r.js; to update it: npm run check -- --write`];
}

export const writeShopScript = async (): Promise<void> => await writeFile(SERVED, await minifyScript());
