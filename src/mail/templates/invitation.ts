import { z } from 'zod';
import { template } from '../template.ts';

/** A person of a brand invites an address to its web app. */
export const invitation = template({
  audience: 'invited',
  params: z.object({ link_id: z.string(), invited_by: z.string(), expires_at: z.iso.datetime() }),
  write: ({ link_id, invited_by, expires_at }, { brandName, urlOf }) => ({
    subject: `${invited_by} invites you to ${brandName}`,
    paragraphs: [`You may now work in the web app of ${brandName}.`, 'The link works once.'],
    facts: [['Good until', expires_at]],
    action: {
      label: 'Sign in',
      url: urlOf({ kind: 'enter', rowId: link_id, version: 0, expiresAt: new Date(expires_at) }),
    },
  }),
});
