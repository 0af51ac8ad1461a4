import { z } from 'zod';
import { timestamp } from '../../kit/values/page.ts';

export const SampleRemoved = z
  .object({
    data: z.object({ removed_at: timestamp.describe('When the sample was removed.') }).describe('The removal.'),
  })
  .meta({ id: 'SampleRemoved' });
