import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ELASTICSEARCH_FOLDER = 'elasticsearch-9.4.3';

/** Elasticsearch as the first start has fetched it while npm installed the packages. */
export const FETCHED_EARLY = fileURLToPath(new URL(`../../../.cache/${ELASTICSEARCH_FOLDER}`, import.meta.url));

/** Maven's own files in the folder that it fills: its private repository (950 MB) and what it says about the build. */
const LEFTOVERS = ['m2', 'target'];

/**
 * The command that fetches Elasticsearch into a folder.
 *
 * @param {string} into
 * @param {import('./java.mjs').Java | undefined} java
 * @returns {[command: string, args: string[]]}
 */
export function mavenCommand(into, java) {
  const properties = { 'maven.repo.local': path.join(into, 'm2'), out: into };
  return [
    'env',
    [
      ...(java ? [`JAVA_HOME=${java.home}`] : []),
      ...['mvn', '-q', '-B', '-ntp', '-C', '-f', fileURLToPath(new URL('pom.xml', import.meta.url))],
      ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
      'initialize',
    ],
  ];
}

/** @param {string} into */
export async function removeLeftovers(into) {
  for (const name of LEFTOVERS) await rm(path.join(into, name), { recursive: true, force: true });
}
