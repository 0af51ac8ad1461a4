import { operations } from '../resources/nouns.ts';
import { olderPath } from './declare.ts';
import { differences } from './differences.ts';
import { SERVED } from './operations.ts';

const INTRODUCTION = `# The older interface

\`/api/v1\` serves clients that were written before \`/v1\`: the same keys, limits, credits and Idempotency-Keys, the same
operations and errors, with the differences below. Every answer, errors too, carries \`Deprecation\` and
\`Link: </v1/...>; rel="successor-version"\`. The whole interface is described by
\`/openapi-legacy.json\`, from which generators make clients, and can be tried at \`/docs/legacy\`.

It is on every host, beside \`/v1\`; with \`LEGACY_URL\` it has that host to itself. \`API_URL\` is then the address that
\`Link\` names. Lists have no CSV here.

Webhooks are subscribed to on the interface whose form they have: see [webhooks](webhooks.md#the-older-interface).

This page is written by \`npm run check -- --write\` from the declarations.
`;

const row = (...cells: string[]) => `| ${cells.join(' | ')} |`;

/** \`docs/legacy.md\`: what a client must change to migrate. */
export function legacyManual(): string {
  const marked = differences(() => new Date());
  const served = operations.filter(({ id }) => SERVED.has(id));
  const rows = served.flatMap(({ id, method, path }) => {
    const difference = marked[id];
    const older = difference?.path ?? olderPath(path);
    return difference ? [row(`\`${method} ${older}\``, `\`${method} ${path}\``, difference.says)] : [];
  });
  const same = served
    .filter(({ id }) => marked[id] === undefined)
    .map(({ method, path }) => `\`${method} ${olderPath(path)}\``);
  return `${INTRODUCTION}
## What differs

${row('Older', 'Current', 'Difference')}
| --- | --- | --- |
${rows.join('\n')}

## What is the same

${same.join(', ')}.
`;
}
