import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

export const DOCUMENT = 'test/check/openapi.json';

const PLANNED = '#/components/responses/Planned';
const MODE = '#/components/parameters/Mode';

const Reference = z.looseObject({ $ref: z.string().optional() });
const Operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  parameters: z.array(Reference),
  responses: z.record(z.string(), Reference),
});
type Operation = z.infer<typeof Operation>;
const Delivery = z.looseObject({
  requestBody: z.looseObject({ content: z.object({ 'application/json': z.object({ schema: z.unknown() }) }) }),
});
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  webhooks: z.record(z.string(), z.object({ post: Delivery })),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});
type Document = z.infer<typeof Document>;

const withoutMode = ({ parameters }: Operation) => parameters.filter(({ $ref }) => $ref !== MODE);
const withoutSuccess = ({ responses }: Operation) =>
  Object.fromEntries(Object.entries(responses).filter(([status]) => !status.startsWith('2')));

/** The operation as it is called without `mode=plan`: it has one kind of answer. */
function plain(operation: Operation): Operation {
  const answers = Object.entries(operation.responses).filter(([, { $ref }]) => $ref !== PLANNED);
  return { ...operation, parameters: withoutMode(operation), responses: Object.fromEntries(answers) };
}

/** The same call with `mode=plan`. The Idempotency-Key is ignored there, so it is no parameter. */
function planned(operation: Operation): Operation {
  return {
    ...operation,
    operationId: `${operation.operationId}_plan`,
    summary: `${operation.summary}: only a plan`,
    description: `Changes nothing: the answer has every row that would change and a \`plan_id\` for \`apply_plan\`.`,
    parameters: withoutMode(operation).filter(({ $ref }) => !$ref?.endsWith('/IdempotencyKey')),
    responses: { 202: { $ref: PLANNED }, ...withoutSuccess(operation) },
  };
}

/** The name of an event's type: `payout.created` is a `PayoutCreatedEvent`. */
const nameEvent = (event: string): string =>
  `${event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** A type for the body of each event, by its name, and `RollcallEvent`, which is any of them. */
function toEventSchemas(webhooks: Document['webhooks']): Record<string, unknown> {
  const events = Object.entries(webhooks).map(([event, { post }]) => ({
    name: nameEvent(event),
    schema: post.requestBody.content['application/json'].schema,
  }));
  const any = { oneOf: events.map(({ name }) => ({ $ref: `#/components/schemas/${name}` })) };
  return { ...Object.fromEntries(events.map(({ name, schema }) => [name, schema])), RollcallEvent: any };
}

/** The events with the names of their types, for a client whose generator makes no union. */
export async function typesOfEvents(): Promise<[event: string, type: string][]> {
  const { webhooks } = Document.parse(JSON.parse(await readFile(DOCUMENT, 'utf8')));
  return Object.keys(webhooks).map((event) => [event, nameEvent(event)]);
}

/**
 * The OpenAPI document as generators read it. One method with two kinds of answers would have a type that nobody can read
 * without a check, so `mode=plan` is an operation of its own. OpenAPI allows one operation for a path and method, so its
 * path ends in `?mode=plan`, which both generators send as it is: no change has other query parameters.
 */
export async function documentOfClients(): Promise<string> {
  const document = Document.parse(JSON.parse(await readFile(DOCUMENT, 'utf8')));
  const paths = Object.entries(document.paths).flatMap(([path, methods]) => {
    const all = Object.entries(methods);
    const plans = all.filter(([, { parameters }]) => parameters.some(({ $ref }) => $ref === MODE));
    return [
      [path, Object.fromEntries(all.map(([method, operation]) => [method, plain(operation)]))],
      ...(plans.length === 0
        ? []
        : [[`${path}?mode=plan`, Object.fromEntries(plans.map(([method, one]) => [method, planned(one)]))]]),
    ];
  });
  const { webhooks, components } = document;
  const named = Object.entries(webhooks).map(([event, { post }]) => {
    const schema = { $ref: `#/components/schemas/${nameEvent(event)}` };
    return [event, { post: { ...post, requestBody: { required: true, content: { 'application/json': { schema } } } } }];
  });
  const schemas = { ...components.schemas, ...toEventSchemas(webhooks) };
  return JSON.stringify({
    ...document,
    paths: Object.fromEntries(paths),
    webhooks: Object.fromEntries(named),
    components: { ...components, schemas },
  });
}

/** What a built package says of the document that it was made from. */
export async function documentHash(): Promise<string> {
  return createHash('sha256')
    .update(await readFile(DOCUMENT))
    .digest('hex');
}
