import type { z } from 'zod';
import type { PageLink } from '../access/page-tokens.ts';
import type { Letter } from './letter.ts';

/** A template's input besides its params. */
export interface MailFacts {
  brandName: string;
  to: string;
  creatorId: string | null;
  /** The time of the change that the mail is about. */
  createdAt: Date;
  /**
   * The URL of a page. It is made when the mail is sent and never stored. By default it expires 30 days after the
   * change.
   */
  urlOf(link: Omit<PageLink, 'expiresAt'> & { expiresAt?: Date | undefined }): string;
  /** The URL of a page of the web app, for people who sign in. */
  appUrlOf(page: string): string;
}

/**
 * `creator`, or `invited` to the brand's web app: they can unsubscribe. `brand`: the brand's own notifications, which
 * are always sent.
 */
export type Audience = 'creator' | 'invited' | 'brand';

interface MailDeclaration<P extends z.ZodType> {
  audience: Audience;
  /** Reports a change that needs no answer. It leaves the limit of mails to strangers to the others, and no sample sends it. */
  isNews?: boolean;
  /** Stored as JSON with the mail: no links, no secrets, and only what the letter needs. */
  params: P;
  write(params: z.output<P>, facts: MailFacts): Letter;
}

export interface Template<P extends z.ZodType = z.ZodType> {
  audience: Audience;
  isNews: boolean;
  params: P;
  /** The letter of a mail, from its stored params. */
  letterOf(kept: unknown, facts: MailFacts): Letter;
}

/** Declares one kind of mail. */
export function template<P extends z.ZodType>(declared: MailDeclaration<P>): Template<P> {
  const { audience, isNews = false, params, write } = declared;
  return { audience, isNews, params, letterOf: (kept, facts) => write(params.parse(kept), facts) };
}
