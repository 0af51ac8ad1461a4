import { type Html, html } from './html.ts';

const NOTHING = html``;

interface Control {
  name: string;
  label: string;
  hint?: string | undefined;
  /** The error shown to the person who fills in the form. */
  problem?: string | undefined;
  required?: boolean | undefined;
}

export interface Field extends Control {
  value: string;
  /** Extra attributes, such as `type="email" autocomplete="email"`; each begins with a space. */
  more?: Html | undefined;
  /** If set, the field is a text area. */
  rows?: number | undefined;
}

function renderAttributes({ name, hint, problem }: Control): Html {
  const describedBy = [...(hint ? [`${name}-hint`] : []), ...(problem ? [`${name}-problem`] : [])].join(' ');
  return html` id="${name}" name="${name}"${describedBy ? html` aria-describedby="${describedBy}"` : NOTHING}${
    problem ? html` aria-invalid="true"` : NOTHING
  }`;
}

const renderHint = ({ name, hint, problem }: Control): Html =>
  html`${
    hint ? html`<p class="hint" id="${name}-hint">${hint}</p>\n` : NOTHING
  }${problem ? html`<p class="problem" id="${name}-problem">${problem}</p>\n` : NOTHING}`;

const renderLabel = ({ name, label, required }: Control): Html =>
  html`<label for="${name}">${label}${required ? NOTHING : html` <span class="optional">(optional)</span>`}</label>`;

/** A one-line input or, with `rows`, a text area. */
export function field(declared: Field): Html {
  const { value, rows, more = NOTHING } = declared;
  const attributes = html`${renderAttributes(declared)}${more}`;
  // A browser drops the first line break of a text area.
  const control = rows
    ? html`<textarea rows="${rows}"${attributes}>
${value}</textarea>`
    : html`<input value="${value}"${attributes}>`;
  return html`<div class="field">
${renderLabel(declared)}
${renderHint(declared)}${control}
</div>
`;
}

/** A checkbox, with its whole sentence as the label. */
export function checkbox(declared: Control & { isChecked: boolean }): Html {
  const { name, label, isChecked } = declared;
  return html`<div class="field tick">
<input type="checkbox" value="yes"${renderAttributes(declared)}${isChecked ? html` checked` : NOTHING}>
<label for="${name}">${label}</label>
${renderHint(declared)}</div>
`;
}

/** A file input; its form must be `multipart`. */
export function fileField(declared: Control & { accept?: string; multiple?: boolean }): Html {
  const { accept, multiple } = declared;
  return html`<div class="field">
${renderLabel(declared)}
${renderHint(declared)}<input type="file"${renderAttributes(declared)}${accept ? html` accept="${accept}"` : NOTHING}${
    multiple ? html` multiple` : NOTHING
  }>
</div>
`;
}

/** Lists the form's problems as links to the fields; empty without problems. Screen readers announce it first. */
export function errorSummary(controls: readonly Control[]): Html {
  const lines = controls.flatMap(({ name, label, problem }) =>
    problem ? [html`<li><a href="#${name}">${label}: ${problem}</a></li>`] : [],
  );
  if (lines.length === 0) return NOTHING;
  return html`<div class="summary" role="alert" tabindex="-1" autofocus>
<h2>Not sent yet: please check</h2>
<ul>${lines}</ul>
</div>`;
}

/** A form that posts to its own page. `action` comes from the visit. */
export function postForm(action: string, content: Html, options: { multipart?: boolean } = {}): Html {
  const encoding = options.multipart ? html` enctype="multipart/form-data"` : NOTHING;
  return html`<form method="post" action="${action}" accept-charset="utf-8"${encoding}>
${content}
</form>`;
}

/** The fact that matters most on a page: its name, the fact in large type, and a sentence about it. */
export const keyFact = (name: Html | string, fact: Html, about: Html | string): Html => html`<div class="key">
<p class="key-name">${name}</p>
${fact}
<p class="hint">${about}</p>
</div>`;

/** A submit button. If a form has several, its value says which action was chosen. */
export function submitButton(label: string, choice?: { name: string; value: string; quiet?: boolean }): Html {
  if (!choice) return html`<button>${label}</button>`;
  return html`<button name="${choice.name}" value="${choice.value}"${choice.quiet ? html` class="quiet"` : NOTHING}>${label}</button>`;
}
