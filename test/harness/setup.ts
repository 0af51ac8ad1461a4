import fc from 'fast-check';
import { testSeed } from './random-runs.ts';

fc.configureGlobal({ seed: testSeed });
