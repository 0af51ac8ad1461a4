import { z } from 'zod';
import { timeText } from '../../html/times.ts';
import { template } from '../template.ts';

/** A way into the brand's web app: once, and soon. */
export const signIn = template({
  audience: 'brand',
  params: z.object({ link_id: z.string(), expires_at: z.iso.datetime() }),
  write: ({ link_id, expires_at }, { brandName, urlOf }) => ({
    subject: `Sign in to ${brandName}`,
    paragraphs: [
      'This link was requested with your address. If it was not you, ignore this mail: the link expires by itself.',
      'The link works once.',
    ],
    facts: [['Good until', timeText(new Date(expires_at))]],
    action: {
      label: 'Sign in',
      url: urlOf({ kind: 'enter', rowId: link_id, version: 0, expiresAt: new Date(expires_at) }),
    },
  }),
});
