import type { z } from 'zod';
import type { Template } from './template.ts';

/**
 * The params of every kind of mail. A noun adds its own, next to its templates: `interface Mails extends MailsOf<typeof
 * briefMails> {}`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: nouns declare its members.
export interface Mails {}
export type MailsOf<Declared extends Record<string, Template>> = {
  [Kind in keyof Declared]: z.input<Declared[Kind]['params']>;
};

export type MailKind = keyof Mails;

/** The params of a kind, as the caller of `queueMail` passes them. */
export type MailParams<K extends MailKind> = Mails[K];

const templates = new Map<string, Template>();

/** Declares mails by their kinds. */
export function mails<const Declared extends Record<string, Template>>(of: Declared): Declared {
  for (const [kind, template] of Object.entries(of)) templates.set(kind, template);
  return of;
}

export const findTemplate = (kind: string): Template | undefined => templates.get(kind);

/** The kinds that are news. */
export const newsKinds = (): string[] => [...templates].filter(([, { isNews }]) => isNews).map(([kind]) => kind);

/** True if the reader can unsubscribe from such mails. */
export const isStoppable = ({ audience }: Template): boolean => audience !== 'brand';
