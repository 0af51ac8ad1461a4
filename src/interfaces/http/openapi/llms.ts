import type { Operation } from '../../../kit/operation/operation.ts';
import { tags } from '../../nouns.ts';

const INTRODUCTION = `# Rollcall

> The API behind a brand's work with content creators: a searchable directory, attribution (links, codes, orders, commissions, payouts) and workflow (campaigns, briefs, contracts, deliverables, messages, shipments).

Every call carries \`Authorization: Bearer svk_…\`. Brand keys call everything, data keys the directory. Errors are \`{error, code, details?, request_id}\`; branch on \`code\`. Changes take an \`Idempotency-Key\`.

## Documents

- [OpenAPI 3.1](/openapi.json): every operation with its shapes, examples and errors
- [Reference](/docs): the same as a page where calls can be tried with a key
- [Manual](/manual): concepts, first steps and guides
- [MCP](/mcp): every operation as a tool (streamable HTTP, the same keys)
- [Older interface](/openapi-legacy.json): the same service under /api/v1
`;

/** `/llms.txt`: an introduction, the documents, and one line for each operation. */
export function llmsText(operations: readonly Operation[]): string {
  const byTag = Map.groupBy(operations, ({ tag }) => tag);
  const sections = [...byTag].map(([tag, its]) => {
    const lines = its.map(({ id, method, path, summary }) => `- ${id}: \`${method} ${path}\` ${summary}`);
    return `\n## ${tag}\n\n${tags.find(({ name }) => name === tag)?.about ?? ''}\n\n${lines.join('\n')}\n`;
  });
  return INTRODUCTION + sections.join('');
}
