import type { z } from 'zod';
import type { PageLink } from '../access/page-tokens.ts';
import type { Letter } from './letter.ts';

/** What a template knows beside its params. */
export interface MailFacts {
  brandName: string;
  to: string;
  creatorId: string | null;
  /** When the change happened that the mail is about. */
  createdAt: Date;
  /** The URL of a page, made when the mail is sent: it lies in no row. Without a time it ends 30 days after the change. */
  urlOf(link: Omit<PageLink, 'expiresAt'> & { expiresAt?: Date | undefined }): string;
}

/**
 * `creator`, or `invited` to the brand's web app: they may have no more of the brand's mails. `brand`: what a brand is sent
 * about itself, which always comes.
 */
export type Audience = 'creator' | 'invited' | 'brand';

interface Declaration<P extends z.ZodType> {
  audience: Audience;
  /** Kept as JSON with the mail: no link, no secret, and no more than the letter needs. */
  params: P;
  write(params: z.output<P>, facts: MailFacts): Letter;
}

export interface Template<P extends z.ZodType = z.ZodType> {
  audience: Audience;
  params: P;
  /** The letter of a mail, from its params as they were kept. */
  letterOf(kept: unknown, facts: MailFacts): Letter;
}

/** Declares one kind of mail. */
export function template<P extends z.ZodType>({ audience, params, write }: Declaration<P>): Template<P> {
  return { audience, params, letterOf: (kept, facts) => write(params.parse(kept), facts) };
}
