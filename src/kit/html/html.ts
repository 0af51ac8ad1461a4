/** Text that is already HTML and is not escaped again. */
export interface Html {
  readonly html: string;
}

type Part = string | number | Html | readonly Html[];

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function rendered(part: Part): string {
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (character) => ESCAPED[character] ?? '');
  if (typeof part === 'number') return String(part);
  return 'html' in part ? part.html : part.map(rendered).join('');
}

/** A template that escapes every value unless it is HTML itself. Attributes must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return { html: strings.map((text, i) => text + rendered(parts[i] ?? '')).join('') };
}
