import { compareWithOracle } from './oracle/comparison.ts';

compareWithOracle(40);
