import { type Html, html } from '../html/html.ts';

/** The content of a mail, from which both text and HTML are rendered. */
export interface Letter {
  subject: string;
  /** The first line; without it the subject. */
  heading?: string;
  paragraphs: readonly string[];
  /** Short facts, one per line, such as a due date. */
  facts?: readonly (readonly [name: string, value: string])[];
  /** A quotation, such as a creator's message. */
  quote?: string;
  /** The next step: one link. */
  action?: { label: string; url: string };
  /** Further links, one per line. */
  links?: readonly { label: string; url: string }[];
}

const NOTHING = html``;

/** A rendered mail, as text and as HTML. */
export interface WrittenLetter {
  subject: string;
  text: string;
  html: string;
}

function renderText({ subject, heading = subject, paragraphs, facts, quote, action, links }: Letter): string {
  const blocks = [
    heading,
    ...paragraphs,
    facts?.map(([name, value]) => `${name}: ${value}`).join('\n'),
    quote?.replace(/^/gm, '> '),
    action && `${action.label}:\n${action.url}`,
    links?.map(({ label, url }) => `${label}: ${url}`).join('\n'),
  ];
  return blocks.filter((block) => block).join('\n\n');
}

const BUTTON =
  'display:inline-block;padding:12px 24px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none';

function renderBody({ subject, heading = subject, paragraphs, facts = [], quote, action, links = [] }: Letter): Html {
  return html`<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${heading}</h1>
${paragraphs.map((text) => html`<p style="margin:0 0 16px;white-space:pre-line">${text}</p>\n`)}
${facts.length === 0 ? NOTHING : html`<p style="margin:0 0 16px">${facts.map(([name, value]) => html`<strong>${name}:</strong> ${value}<br>\n`)}</p>`}
${quote === undefined ? NOTHING : html`<blockquote style="margin:0 0 16px;padding-left:12px;border-left:3px solid #84807a;white-space:pre-line">${quote}</blockquote>`}
${action ? html`<p style="margin:24px 0"><a href="${action.url}" style="${BUTTON}">${action.label}</a></p>` : NOTHING}
${links.map(({ label, url }) => html`<p style="margin:0 0 16px"><a href="${url}">${label}</a></p>\n`)}`;
}

export interface Sender {
  name: string;
  /** True if the recipient has never answered the sender. */
  isUnknown: boolean;
}

function introduction({ name, isUnknown }: Sender): string {
  if (!isUnknown) return '';
  return `Why you get this: ${name} entered your address in Rollcall, where brands work with content creators, and has not heard from you before. Rollcall has not checked who they are. If you did not expect this email, you can ignore it or unsubscribe below.`;
}

interface Footer {
  /** Pass it if the recipient can unsubscribe. */
  unsubscribeUrl?: string | undefined;
  /** The recipient's own page with the sender. */
  pageUrl?: string | undefined;
}

/** Renders a letter. Its footer names `sender`. */
export function writeLetter(letter: Letter, sender: Sender, { unsubscribeUrl, pageUrl }: Footer = {}): WrittenLetter {
  const { name } = sender;
  const introductionText = introduction(sender);
  const from = `${introductionText === '' ? '' : `${introductionText}\n`}This email was sent for ${name}. Please do not reply to it.`;
  const links = [
    { label: `Your page with ${name}, for you alone`, url: pageUrl },
    { label: `No more emails from ${name}`, url: unsubscribeUrl },
  ].flatMap(({ label, url }) => (url === undefined ? [] : [{ label, url }]));
  return {
    subject: letter.subject,
    text: `${renderText(letter)}\n\n-- \n${from}${links.map(({ label, url }) => `\n${label}: ${url}`).join('')}\n`,
    html: html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${letter.subject}</title></head>
<body style="margin:0;padding:16px;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:560px;margin:0 auto">
${renderBody(letter)}
<hr style="margin:24px 0;border:0;border-top:1px solid #84807a">
<p style="margin:0;font-size:13px;white-space:pre-line">${from}${links.map(({ label, url }) => html`<br><a href="${url}">${label}</a>`)}</p>
</div>
</body>
</html>
`.html,
  };
}
