import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';
import { parseTerms } from '../../workflow/terms/versions.ts';
import { summarizeTerms } from './summary.ts';

const params = z.object({
  deals: z.array(z.object({ value: z.string(), before: z.unknown(), after: z.unknown() })),
});

/** The codes and links that a mail spells out. */
const SHOWN = 20;

const describe = (storedTerms: unknown): string => summarizeTerms(parseTerms(storedTerms));

/** Tells a creator what codes and links paid until now, and what later orders pay. */
const termsChanged = template({
  audience: 'creator',
  isNews: true,
  params,
  write: ({ deals }, { brandName }) => {
    const others = deals.length - SHOWN;
    return {
      subject: `${brandName} changed what you earn`,
      paragraphs: [
        'This is for orders from now on. What earlier orders pay stays as it was.',
        ...(others > 0 ? [`${others} more of your codes and links changed as well.`] : []),
      ],
      facts: deals
        .slice(0, SHOWN)
        .flatMap(({ value, before, after }) => [
          ...(before === null ? [] : [[`${value} until now`, describe(before)] as const]),
          [`${value} from now on`, describe(after)] as const,
        ]),
    };
  },
});

export const newsMails = mails({ terms_changed: termsChanged });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof newsMails> {}
}
