import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';
import { Figure } from '../reports/reports.shapes.ts';
import { amountText, figureText } from '../reports/reports.ts';
import { CONDITIONS, WINDOWS } from './alerts.shapes.ts';
import { toMinorThreshold } from './alerts.ts';

const params = z.object({
  name: z.string(),
  metric: z.string(),
  condition: z.enum(CONDITIONS),
  threshold: z.number(),
  unit: z.enum(['money', 'count', 'percent']),
  currency: z.string(),
  window: z.enum(WINDOWS),
  figures: z.array(Figure),
  /** Further creators, links or countries that the mail does not name. */
  more: z.int(),
  page: z.string(),
});
type Params = z.output<typeof params>;

/** The condition as a clause, such as "Orders below 5 in a day". */
function conditionText({ metric, condition, threshold, window, ...amount }: Params): string {
  if (condition === 'unusual') return `${metric} unlike the same ${window} of the last eight weeks`;
  if (condition === 'change_percent') {
    return `${metric} ${threshold < 0 ? 'down' : 'up'} ${Math.abs(threshold)}% or more from the ${window} before`;
  }
  return `${metric} ${condition} ${amountText(toMinorThreshold(threshold, amount), amount)} in ${window === 'hour' ? 'an' : 'a'} ${window}`;
}

const toFacts = ({ figures, more }: Params) => [
  ...figures.map((figure) => [figure.label, figureText(figure)] as const),
  ...(more > 0 ? [['Others', String(more)] as const] : []),
];

const alertBegan = template({
  audience: 'brand',
  params,
  write: (params, { appUrlOf }) => ({
    subject: `Alert: ${params.name}`,
    paragraphs: [`${conditionText(params)}. You get one more email when this ends.`],
    facts: toFacts(params),
    action: { label: 'Open the figures', url: appUrlOf(params.page) },
  }),
});

const alertEnded = template({
  audience: 'brand',
  params,
  write: (params, { appUrlOf }) => ({
    subject: `Ended: ${params.name}`,
    paragraphs: [`This has ended: ${conditionText(params)}.`],
    facts: toFacts(params),
    action: { label: 'Open the figures', url: appUrlOf(params.page) },
  }),
});

export const alertMails = mails({ alert_began: alertBegan, alert_ended: alertEnded });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof alertMails> {}
}
