/** Without control characters, which a person cannot type and Postgres does not store. */
const clean = (text: string) => text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');

/** A filled-in form, as browsers send it. */
export interface Form {
  /** The field as typed; sent more than once, its lines; '' when it was not sent. */
  text(name: string): string;
  isTicked(name: string): boolean;
}

export function formOf(fields: Iterable<readonly [name: string, value: string]>): Form {
  const sent = new Map<string, string[]>();
  for (const [name, value] of fields) sent.set(name, [...(sent.get(name) ?? []), value]);
  const text = (name: string) => clean((sent.get(name) ?? []).join('\n'));
  return { text, isTicked: (name) => text(name) !== '' };
}

/** Reads a form that came as `application/x-www-form-urlencoded`. */
export const readForm = (body: Buffer): Form => formOf(new URLSearchParams(body.toString('utf8')));
