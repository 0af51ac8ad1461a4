import { z } from 'zod';
import { template } from '../template.ts';

/** What a creator is told when the brand answered their question about a line. */
export const disputeAnswered = template({
  audience: 'creator',
  params: z.object({ row_id: z.string(), link_version: z.int(), line: z.string(), answer: z.string() }),
  write: ({ row_id, link_version, line, answer }, { brandName, urlOf }) => ({
    subject: `${brandName} answered your question about ${line}`,
    paragraphs: [],
    quote: answer,
    action: {
      label: 'See the statement',
      url: urlOf({ kind: 'statement', rowId: row_id, version: link_version }),
    },
  }),
});
