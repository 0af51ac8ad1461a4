import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Config } from '../../values/config.ts';

export interface Java {
  home: string;
  /** Options of the operator for the server's JVM. They come after ours and override them. */
  options?: string | undefined;
}

const OLDEST_JAVA = 21;

/** Elasticsearch's entitlement agent needs these modules; a trimmed runtime (JRE) lacks some. */
const NEEDED_MODULES = ['jdk.attach', 'jdk.jdi', 'jdk.jlink'];

/** Folders with one JDK per entry: Linux packages, SDKMAN, IDEs, macOS. */
export const USUAL_JDK_FOLDERS: readonly string[] = [
  '/usr/lib/jvm',
  '/usr/local/lib/jvm',
  '/opt',
  '/opt/java',
  path.join(homedir(), '.sdkman/candidates/java'),
  path.join(homedir(), '.jdks'),
  '/Library/Java/JavaVirtualMachines',
  path.join(homedir(), 'Library/Java/JavaVirtualMachines'),
];

export interface JavaSearch {
  found: Java | undefined;
  /** Each place that was checked, and why it is unsuitable. */
  refused: string[];
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function homesOnPath(searchPath: string): string[] {
  return searchPath
    .split(path.delimiter)
    .filter(Boolean)
    .map((folder) => realPath(path.join(folder, 'java')))
    .filter((java) => java !== undefined)
    .map((java) => path.dirname(path.dirname(java)));
}

function homesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => path.join(folder, name))
    .map((home) => (existsSync(path.join(home, 'Contents/Home')) ? path.join(home, 'Contents/Home') : home))
    .filter((home) => existsSync(path.join(home, 'bin/java')));
}

/** Why Elasticsearch cannot run on this JDK, from its `release` file; undefined if it can. */
function whyNot(home: string): string | undefined {
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
 */
export function findJava(java: Config['java'], folders: readonly string[] = USUAL_JDK_FOLDERS): JavaSearch {
  const homes = [...java.homes, ...homesOnPath(java.searchPath), ...folders.flatMap(homesBelow)];
  const refused: string[] = [];
  for (const home of new Set(homes.map((candidate) => realPath(candidate) ?? candidate))) {
    const reason = whyNot(home);
    if (!reason) return { found: { home, options: java.options }, refused };
    refused.push(`${home} (${reason})`);
  }
  return { found: undefined, refused };
}

/** The message for a machine without a suitable Java. */
export function javaMissing(search: JavaSearch, folders: readonly string[] = USUAL_JDK_FOLDERS): string {
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
