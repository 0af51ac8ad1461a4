/** Removes control characters, which people cannot type and Postgres does not store. */
const clean = (text: string) => text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');

/** A filled-in form, as browsers send it. */
export interface Form {
  /** The field as typed; if sent several times, one line each; '' if it was not sent. */
  text(name: string): string;
  isTicked(name: string): boolean;
}

export function parseForm(fields: Iterable<readonly [name: string, value: string]>): Form {
  const submittedValues = new Map<string, string[]>();
  for (const [name, value] of fields) submittedValues.set(name, [...(submittedValues.get(name) ?? []), value]);
  const text = (name: string) => clean((submittedValues.get(name) ?? []).join('\n'));
  return { text, isTicked: (name) => text(name) !== '' };
}

/** Parses a form sent as `application/x-www-form-urlencoded`. */
export const readForm = (body: Buffer): Form => parseForm(new URLSearchParams(body.toString('utf8')));
