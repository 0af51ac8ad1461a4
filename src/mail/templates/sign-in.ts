import { z } from 'zod';
import { timeText } from '../../pages/kit/times.ts';
import { template } from '../template.ts';

/** A way into the brand's web app: once, and soon. */
export const signIn = template({
  audience: 'brand',
  params: z.object({ link_id: z.string(), invited_by: z.string().nullable(), expires_at: z.iso.datetime() }),
  write: ({ link_id, invited_by, expires_at }, { brandName, urlOf }) => ({
    subject: invited_by === null ? `Sign in to ${brandName}` : `${invited_by} invites you to ${brandName}`,
    paragraphs: [
      invited_by === null
        ? 'Somebody asked for this link with your address. If it was not you, leave it: it ends by itself.'
        : `You may now work in the web app of ${brandName}.`,
      'The link works once.',
    ],
    facts: [['Good until', timeText(new Date(expires_at))]],
    action: {
      label: 'Sign in',
      url: urlOf({ kind: 'enter', rowId: link_id, version: 0, expiresAt: new Date(expires_at) }),
    },
  }),
});
