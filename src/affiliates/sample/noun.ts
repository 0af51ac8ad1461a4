import { noun } from '../../kit/operation/noun.ts';
import { removeSampleFigures } from './jobs.ts';
import { sampleOperations } from './routes.ts';

export const sample = noun({ name: 'sample', operations: sampleOperations, jobs: [removeSampleFigures] });
