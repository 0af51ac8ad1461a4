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
const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

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
  return JSON.stringify({ ...document, paths: Object.fromEntries(paths) });
}

/** What a built package says of the document that it was made from. */
export async function documentHash(): Promise<string> {
  return createHash('sha256')
    .update(await readFile(DOCUMENT))
    .digest('hex');
}
