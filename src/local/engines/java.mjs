import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/**
 * @typedef {object} Java
 * @property {string} home
 * @property {string | undefined} [options] Options of the operator for the server's JVM. They come after ours and override
 *   them.
 */

/**
 * @typedef {object} JavaSettings
 * @property {string[]} homes
 * @property {string} searchPath
 * @property {string | undefined} [options]
 */

/**
 * @typedef {object} JavaSearch
 * @property {Java | undefined} found
 * @property {string[]} refused Each place that was checked, and why it is unsuitable.
 */

/**
 * @typedef {object} JavaVariables
 * @property {string | undefined} [EMBEDDED_JAVA_HOME]
 * @property {string | undefined} [ES_JAVA_HOME]
 * @property {string | undefined} [JAVA_HOME]
 * @property {string | undefined} [PATH]
 * @property {string | undefined} [ES_JAVA_OPTS]
 */

/**
 * @param {JavaVariables} env
 * @returns {JavaSettings}
 */
export function javaSettings(env) {
  return {
    homes: [env.EMBEDDED_JAVA_HOME, env.ES_JAVA_HOME, env.JAVA_HOME].flatMap((home) => (home ? [home] : [])),
    searchPath: env.PATH ?? '',
    options: env.ES_JAVA_OPTS,
  };
}

const OLDEST_JAVA = 21;

/** Elasticsearch's entitlement agent needs these modules; a trimmed runtime (JRE) lacks some. */
const NEEDED_MODULES = ['jdk.attach', 'jdk.jdi', 'jdk.jlink'];

/**
 * Folders with one JDK per entry: Linux packages, SDKMAN, IDEs, macOS.
 *
 * @type {readonly string[]}
 */
export const USUAL_JDK_FOLDERS = [
  '/usr/lib/jvm',
  '/usr/local/lib/jvm',
  '/opt',
  '/opt/java',
  path.join(homedir(), '.sdkman/candidates/java'),
  path.join(homedir(), '.jdks'),
  '/Library/Java/JavaVirtualMachines',
  path.join(homedir(), 'Library/Java/JavaVirtualMachines'),
];

/** @param {string} file */
function realPath(file) {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** @param {string} searchPath */
function homesOnPath(searchPath) {
  return searchPath
    .split(path.delimiter)
    .filter(Boolean)
    .map((folder) => realPath(path.join(folder, 'java')))
    .filter((java) => java !== undefined)
    .map((java) => path.dirname(path.dirname(java)));
}

/** @param {string} folder */
function homesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => path.join(folder, name))
    .map((home) => (existsSync(path.join(home, 'Contents/Home')) ? path.join(home, 'Contents/Home') : home))
    .filter((home) => existsSync(path.join(home, 'bin/java')));
}

/**
 * Why Elasticsearch cannot run on this JDK, from its `release` file; undefined if it can.
 *
 * @param {string} home
 */
function whyNot(home) {
  const release = path.join(home, 'release');
  if (!existsSync(path.join(home, 'bin/java'))) return 'has no bin/java';
  if (!existsSync(release)) return 'has no release file, so it is not a JDK';
  const text = readFileSync(release, 'utf8');
  const major = Number(/^JAVA_VERSION="(\d+)/m.exec(text)?.[1] ?? 0);
  if (major < OLDEST_JAVA) return `has Java ${major}, which is too old`;
  const modules = /^MODULES="([^"]*)"/m.exec(text)?.[1]?.split(' ') ?? [];
  const lacking = NEEDED_MODULES.filter((name) => !modules.includes(name));
  return lacking.length > 0 ? `has Java ${major}, but not a full JDK: it lacks ${lacking.join(', ')}` : undefined;
}

/**
 * The first JDK that Elasticsearch can run on: the configured homes, then `java` on the path, then the usual folders.
 *
 * @param {JavaSettings} java
 * @param {readonly string[]} folders
 * @returns {JavaSearch}
 */
export function findJava(java, folders = USUAL_JDK_FOLDERS) {
  const homes = [...java.homes, ...homesOnPath(java.searchPath), ...folders.flatMap(homesBelow)];
  /** @type {string[]} */
  const refused = [];
  for (const home of new Set(homes.map((candidate) => realPath(candidate) ?? candidate))) {
    const reason = whyNot(home);
    if (!reason) return { found: { home, options: java.options }, refused };
    refused.push(`${home} (${reason})`);
  }
  return { found: undefined, refused };
}

/**
 * The message for a machine without a suitable Java.
 *
 * @param {JavaSearch} search
 * @param {readonly string[]} folders
 */
export function javaMissing(search, folders) {
  return [
    `Elasticsearch needs a full JDK, version ${OLDEST_JAVA} or newer (21 and 25 are good; a JRE is not enough).`,
    ...(search.refused.length > 0
      ? ['Found, but unusable:', ...search.refused.map((line) => `  ${line}`)]
      : ['No Java was found.']),
    `Looked in EMBEDDED_JAVA_HOME, ES_JAVA_HOME and JAVA_HOME, for java on PATH, and in ${folders.join(', ') || 'no other folder'}.`,
    "Install one (Eclipse Temurin 21 or 25, or your system's package such as openjdk-21-jdk-headless),",
    'or set EMBEDDED_JAVA_HOME to its folder, or set ELASTICSEARCH_URL to your own Elasticsearch 9.',
  ].join('\n');
}
