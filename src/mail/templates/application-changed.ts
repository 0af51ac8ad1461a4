import { z } from 'zod';
import { template } from '../template.ts';

/** To the address that a second application names: only who reads this mail may put it in the place of the first. */
export const applicationChanged = template({
  audience: 'creator',
  params: z.object({ change_id: z.string(), campaign_id: z.string() }),
  write: ({ change_id }, { brandName, urlOf }) => ({
    subject: `Confirm your new application to ${brandName}`,
    paragraphs: [
      `Somebody has applied to ${brandName} again with this address. Your first application stands until you confirm the new one.`,
      'If this was not you, you need do nothing: nothing is changed.',
    ],
    action: { label: 'See and confirm', url: urlOf({ kind: 'confirm', rowId: change_id, version: 0 }) },
  }),
});
