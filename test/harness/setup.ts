import fc from 'fast-check';
import { afterAll } from 'vitest';
import { readCpuMs } from '../run/cpu.ts';
import { testSeed } from './kit/random-runs.ts';

fc.configureGlobal({ seed: testSeed });

// The setup runs before each file, also where files share a process.
const before = readCpuMs();
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from this pattern what the hook uses, and accepts no name.
afterAll(({}, suite) => {
  suite.meta.cpuMs = readCpuMs() - before;
});
