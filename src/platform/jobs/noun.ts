import { noun } from '../../kit/operation/noun.ts';
import { endFiles, turnWork } from './jobs.ts';
import { jobOperations } from './routes.ts';

export const jobs = noun({
  name: 'jobs',
  tag: { name: 'Jobs', about: 'Work that takes longer than a call, its progress and its files.' },
  ids: { jobs: 'job' },
  operations: jobOperations,
  jobs: [endFiles],
  work: [turnWork],
});
