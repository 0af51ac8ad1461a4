import { noun } from '../../kit/operation/noun.ts';
import { directoryImportOperations } from './routes.ts';

export const directoryImports = noun({
  name: 'directory-imports',
  operations: directoryImportOperations,
});
