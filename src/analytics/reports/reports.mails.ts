import { z } from 'zod';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';
import { EVERY, Figure } from './reports.shapes.ts';
import { figureText } from './reports.ts';

const reportMail = template({
  audience: 'brand',
  params: z.object({
    name: z.string(),
    /** The title of its figures, such as "Revenue by creator". */
    title: z.string(),
    every: z.enum(EVERY),
    from: z.string(),
    to: z.string(),
    figures: z.array(Figure),
    isWhole: z.boolean(),
    page: z.string(),
  }),
  write: ({ name, title, every, from, to, figures, isWhole, page }, { appUrlOf }) => {
    const [first] = figures;
    const days = from === to ? dayText(from) : `${dayText(from)} to ${dayText(to)}`;
    // The page's address has the zone only where it is not the brand's.
    const zone = new URLSearchParams(page.split('?')[1]).get('time_zone');
    return {
      subject: first ? `${name}: ${first.label} ${figureText(first)}` : `${name}: nothing to report`,
      heading: name,
      paragraphs: [
        `${title}, ${days}${zone === null ? '' : ` in ${zone}`}, compared with the ${every} before.`,
        ...(first ? [] : ['There were no such figures in this period.']),
        ...(isWhole ? [] : ['Some events had not arrived when this was written. The app has the newest figures.']),
      ],
      facts: figures.map((figure) => [figure.label, figureText(figure)] as const),
      action: { label: 'Open the figures', url: appUrlOf(page) },
    };
  },
});

export const reportMails = mails({ report: reportMail });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof reportMails> {}
}
