import { noun } from '../../kit/operation/noun.ts';
import { folderOperations } from './folders/routes.ts';
import { removeFiles, thumbnailWork } from './jobs.ts';
import { announceEndingRights } from './rights/jobs.ts';
import { assetMails } from './rights/mails.ts';
import { assetOperations } from './routes.ts';

export const assets = noun({
  name: 'assets',
  tag: {
    name: 'Assets',
    about: 'Files with folders, tags and usage rights.',
  },
  ids: { assets: 'ast', folders: 'fld' },
  operations: [...folderOperations, ...assetOperations],
  jobs: [removeFiles, announceEndingRights],
  work: [thumbnailWork],
  mails: assetMails,
});
