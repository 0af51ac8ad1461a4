/** Stands for the address of the server in the reference's code, which the page replaces by its own. */
export const EXAMPLE_ORIGIN = 'https://rollcall.example.com';

/** The introduction of the reference: a first call, and the rules that every call follows. */
export const INTRODUCTION = `The API behind a brand's work with content creators. Search a directory of creators, run campaigns, attribute orders, and pay
what creators earned. Requests and responses are JSON over HTTP.

## Your first call

1. **Get a key.** Create one in the [web app](/app/keys) under *API keys*, or ask your operator for one. On a machine where
   \`npm start\` runs, \`.rollcall/demo.env\` has two keys of the demo brand.
2. **Send a request.** This one finds three creators who write about skincare:

\`\`\`bash
curl --get "${EXAMPLE_ORIGIN}/v1/creators/search" \\
  -d q=skincare -d limit=3 \\
  -H "Authorization: Bearer $ROLLCALL_KEY"
\`\`\`

3. **Or send it from this page.** Paste the key under *Authentication*, open
   [Search the creator directory](#tag/directory/GET/v1/creators/search), and press *Test Request*.

The [manual](/manual) explains campaigns, attribution and money. This reference describes every operation.

## Authentication

Send your key as a bearer token with every request. Keys begin with \`svk_\` and have 44 characters. Keep them on your server:
anyone who has a key can use it until you revoke it.

| Key | What it can call |
|---|---|
| **Brand key** | Everything. Searches of the directory are free. |
| **Data key** | The directory only. A search costs credits. |

A request without a key, or with one that is unknown, revoked or expired, gets a 401.

## Errors

A status of 400 or above comes with a body that has these fields:

\`\`\`json
{
  "error": "body.name: is required.",
  "code": "VALIDATION_ERROR",
  "details": [
    {
      "field": "body.name",
      "code": "required",
      "message": "is required."
    }
  ],
  "request_id": "req_0Uo3xK2mVdT2aXs7LpRb"
}
\`\`\`

Let your program branch on \`code\`, which never changes. \`error\` is a sentence for people, and \`details\` names each wrong
field. Tell us the \`request_id\` when you ask about a request.

| Status | Meaning |
|---|---|
| 400, 413, 415, 422 | The request is wrong. Correct it before you send it again. |
| 401, 403 | The key is missing or unknown, or it may not do this. |
| 402 | The data key has used up its credits. |
| 404 | There is no such item in this brand. |
| 409 | The item is in another state, or it exists already. |
| 429 | Too many requests. Wait as long as \`Retry-After\` says. |
| 500, 503 | Something failed on our side. Try again with the same \`Idempotency-Key\`. |

## Pagination

Lists return \`data\` and \`pagination\`. \`page\` starts at 1, \`limit\` is the number of items on a page, and \`total\` counts the
items of all pages. Read on while \`has_more\` is true.

\`\`\`json
{
  "data": [{ "id": "cmp_0Uo3xK2mVdT2aXs7LpRb" }],
  "pagination": {
    "page": 1,
    "limit": 20,
    "total": 41,
    "has_more": true
  }
}
\`\`\`

## Idempotency

A request can be carried out although its response never arrives. Send each change with an \`Idempotency-Key\` of your choice,
and repeat it with the same key: for 24 hours you get the first response again, and nothing changes twice.

\`\`\`bash
curl -X POST "${EXAMPLE_ORIGIN}/v1/campaigns" \\
  -H "Authorization: Bearer $ROLLCALL_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: summer-launch-1" \\
  -d '{"name": "Summer launch"}'
\`\`\`

To see what a change would do, add \`?mode=plan\`: the response is a 202 with every row that would change, and nothing changes.

## Rate limits and credits

Each key can make 100 requests a minute. Every response says how many are left:

| Header | Value |
|---|---|
| \`X-RateLimit-Limit\` | Requests per window |
| \`X-RateLimit-Remaining\` | Requests left in this window |
| \`X-RateLimit-Reset\` | The end of the window, in seconds since 1970 (UTC) |

With a data key, each page of a search costs 10 credits, whatever its \`limit\`; read pages of 100. \`X-Credits-Charged\` and
\`X-Credits-Remaining\` say what a search cost and what is left. \`preview=true\` returns the total and the price, free of charge.

## Webhooks

Webhooks tell your programs what happens. [Create one](#tag/webhooks/POST/v1/webhooks), verify the signature of each delivery,
and respond with a 2xx within 5 seconds. After a network error, a time-out or a 5xx there is one more attempt 2 seconds later; a
3xx or 4xx is never retried. An event can arrive twice: \`X-Service-Event-Id\` stays the same.
[Webhooks](/manual/webhooks) has code that verifies a signature.

## Clients

Typed clients for TypeScript and Python retry, repeat safely and read all pages for you. The code beside each operation uses
them. [Clients](/manual/clients) explains how to handle errors.

\`\`\`bash
npm install ${EXAMPLE_ORIGIN}/clients/typescript.tgz
curl -OJ ${EXAMPLE_ORIGIN}/clients/python.whl
pip install rollcall_client-*.whl
\`\`\`

\`\`\`typescript
import { answerOf, openRollcall } from '@rollcall/client';
import { createCampaign } from '@rollcall/client/operations';

const client = openRollcall({
  baseUrl: '${EXAMPLE_ORIGIN}',
  key: process.env.ROLLCALL_KEY ?? '',
});
const { data } = await answerOf(
  createCampaign({ client, body: { name: 'Summer launch' } }),
);
console.log(data.id, data.title);
\`\`\`

For another language, generate a client from the [OpenAPI document](/openapi.json). Agents can read [/llms.txt](/llms.txt) and
call every operation as a tool at \`/mcp\` ([Agents](/manual/agents)).`;
