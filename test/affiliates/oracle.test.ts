import { compareWithOracle } from './oracle/comparison.ts';

// `npm run test:long` tries more of them.
compareWithOracle(6);
