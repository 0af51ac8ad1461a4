import { noun } from '../../kit/operation/noun.ts';
import { brandOperations } from './routes.ts';

export const brands = noun({
  name: 'brands',
  tag: {
    name: 'Brand',
    about: "Your brand's own facts and settings.",
  },
  ids: { brand: 'brd' },
  operations: brandOperations,
});
