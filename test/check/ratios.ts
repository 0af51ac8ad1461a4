/** Forms that give a private dialect away; the aims are those of well-read codebases of the field. */
const RELATIVE = /^(?:What|Which|Whether|Who|Whom|How|Where|When|Those|That|Of)\b/;
const DECLARED = [
  /\bfunction\s+([A-Za-z_$][\w$]*)/g,
  /\b(?:const|let)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]+)?=\s*(?:async\s*)?(?:<[^>\n]*>)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[A-Za-z_$][\w$]*)\s*(?::[^={;]+)?=>/g,
];
const COMMENT = /\/\*\*?([\s\S]*?)\*\/|^\s*\/\/\s?(.*)$/gm;

export interface Ratios {
  lines: number;
  functions: number;
  /** Functions whose name ends in `Of`. */
  endInOf: number;
  comments: number;
  /** Comments that begin like a relative clause. */
  relative: number;
  /** Spreads of a literal, which pack properties past the formatter. */
  packed: number;
}

export function countForms(texts: Iterable<string>): Ratios {
  const ratios: Ratios = { lines: 0, functions: 0, endInOf: 0, comments: 0, relative: 0, packed: 0 };
  for (const text of texts) {
    ratios.lines += text.split('\n').length;
    ratios.packed += text.match(/\.\.\.\{/g)?.length ?? 0;
    const names = DECLARED.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
    ratios.functions += names.length;
    ratios.endInOf += names.filter((name) => /[a-z]Of$/.test(name)).length;
    const comments = [...text.matchAll(COMMENT)]
      .map(([, block, line]) => (block ?? line ?? '').replace(/\s*\n\s*\*\s?/g, ' ').trim())
      .filter(Boolean);
    ratios.comments += comments.length;
    ratios.relative += comments.filter((comment) => RELATIVE.test(comment)).length;
  }
  return ratios;
}

const AIMS = { endInOf: 0.02, relative: 0.02, functionsPer1000: 35, packed: 0 };
const NAMES_AND_COMMENTS = ['endInOf', 'relative', 'packed'] as const;
/** Parts that have reached an aim keep it. */
const KEPT: Readonly<Record<string, readonly (keyof typeof AIMS)[]>> = {
  'src/kit': NAMES_AND_COMMENTS,
  'src/platform': NAMES_AND_COMMENTS,
  'src/directory': NAMES_AND_COMMENTS,
  'src/workflow': [...NAMES_AND_COMMENTS, 'functionsPer1000'],
  'src/analytics': NAMES_AND_COMMENTS,
  'src/affiliates': NAMES_AND_COMMENTS,
  'src/interfaces': NAMES_AND_COMMENTS,
  'src/local': NAMES_AND_COMMENTS,
  'src/process': NAMES_AND_COMMENTS,
  'web/src': NAMES_AND_COMMENTS,
};

const groupName = (file: string) => (file.startsWith('web/src/') ? 'web/src' : /^src\/[^/]+(?=\/)/.exec(file)?.[0]);

function measure({ lines, functions, endInOf, comments, relative, packed }: Ratios): Record<keyof typeof AIMS, number> {
  return {
    endInOf: endInOf / Math.max(1, functions),
    relative: relative / Math.max(1, comments),
    functionsPer1000: Math.round((1000 * functions) / Math.max(1, lines)),
    packed,
  };
}

/** A line for each part, and the aims that a part had reached and has lost. */
export function reportForms(files: ReadonlyMap<string, string>): { report: string[]; lost: string[] } {
  const sources = [...files].filter(([file]) => /\.tsx?$/.test(file));
  const groups = Map.groupBy(sources, ([file]) => groupName(file));
  groups.delete(undefined);
  const rows = [...groups].map(([group = '', members]) => ({
    group,
    ratios: measure(countForms(members.map(([, text]) => text))),
  }));
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return {
    report: rows.map(
      ({ group, ratios }) =>
        `${group}: Of ${percent(ratios.endInOf)}, relative comments ${percent(ratios.relative)}, ` +
        `functions a 1,000 lines ${ratios.functionsPer1000}, packed ${ratios.packed}`,
    ),
    lost: rows.flatMap(({ group, ratios }) =>
      (KEPT[group] ?? [])
        .filter((aim) => ratios[aim] > AIMS[aim])
        .map((aim) => `${group}: ${aim} is ${ratios[aim]}, above ${AIMS[aim]}`),
    ),
  };
}
