import { noun } from '../../../kit/operation/noun.ts';
import { searchLeaks } from './jobs.ts';
import { leakOperations } from './routes.ts';

export const leaks = noun({ name: 'leaks', operations: leakOperations, jobs: [searchLeaks] });
