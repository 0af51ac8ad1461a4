import { randomInt } from 'node:crypto';

/** How many histories the oracle test tries, from which seed: `ORACLE_HISTORIES=2000 ORACLE_SEED=7 npx vitest run test/money/oracle.long.test.ts`. */
export function oracleSettings(defaultHistories: number): { histories: number; seed: number } {
  const { ORACLE_HISTORIES, ORACLE_SEED } = process.env;
  return {
    histories: ORACLE_HISTORIES ? Number(ORACLE_HISTORIES) : defaultHistories,
    seed: ORACLE_SEED ? Number(ORACLE_SEED) : randomInt(1, 2_000_000_000),
  };
}
