import { z } from 'zod';
import { template } from '../template.ts';

/** What a brand is told when a creator asks about a line of a statement. */
export const disputeOpened = template({
  audience: 'brand',
  params: z.object({ dispute_id: z.string(), creator: z.string(), line: z.string(), message: z.string() }),
  write: ({ dispute_id, creator, line, message }) => ({
    subject: `${creator} asks about ${line}`,
    paragraphs: ['Answer with PATCH /v1/disputes/{id}; the answer is mailed to them.'],
    facts: [
      ['Question', dispute_id],
      ['About', line],
    ],
    quote: message,
  }),
});
