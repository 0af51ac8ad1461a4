import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listSampleExamples } from '../../../affiliates/sample/sample.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import { preferredType } from '../accepted.ts';
import { type Interface, openapiDocument } from './document.ts';
import { EXAMPLE_ORIGIN } from './introduction.ts';
import { llmsText } from './llms.ts';
import { prebuild } from './prebuilt.ts';
import { type DocsPage, docsPage, openScalar } from './reference-page.ts';
import { listSamples } from './samples.ts';
import { findSection, listSections } from './sections.ts';

/** The document with examples that exist here, if a brand has the sample. */
const TRIABLE = '/openapi-examples.json';

/** A text of the document, or one in quotes of its own in a sample of code. */
const QUOTED = /(\\?"|')((?:[a-z]{3}_)?[\w@.]+)\1/g;

const Operations = z.record(
  z.string(),
  z.record(
    z.string(),
    z.looseObject({ tags: z.array(z.string()), parameters: z.array(z.record(z.string(), z.unknown())) }),
  ),
);
const Parameters = z.looseObject({ parameters: z.looseObject({ Mode: z.record(z.string(), z.unknown()) }) });
const Tags = z.array(z.object({ name: z.string(), description: z.string() }));

/**
 * The page sends each example of a parameter that is not off. All filters of a list at once would find nothing, so they
 * are filled in, and off until the reader ticks them. Those of the directory find creators together.
 */
function turnFiltersOff(parameters: Record<string, unknown>[]): void {
  for (const parameter of parameters) {
    const { example: value } = Object(parameter.schema);
    if (parameter.required !== false || value === undefined) continue;
    parameter.examples = { default: { value, 'x-disabled': true } };
  }
}

/** The document as the reference shows it: in sections, with code for the clients, and with filters off. */
function toReference(document: Record<string, unknown>): Record<string, unknown> {
  const paths = Operations.parse(document.paths);
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods)) {
      operation['x-codeSamples'] = listSamples(operation);
      if (!operation.tags.includes('Directory')) turnFiltersOff(operation.parameters);
      operation.tags = operation.tags.map((tag) => findSection(tag, path));
    }
  }
  const { tags, groups } = listSections(Tags.parse(document.tags));
  const components = Parameters.parse(document.components);
  components.parameters.Mode.examples = { default: { value: 'plan', 'x-disabled': true } };
  return { ...document, tags, paths, components, 'x-tagGroups': groups };
}

const ENTRANCES = {
  name: 'Rollcall API',
  docs: '/docs',
  manual: '/manual',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  clients: '/clients/',
  mcp: '/mcp',
  health: '/healthz',
  readiness: '/readyz',
};

const wantsPage = (accept: string | undefined) =>
  preferredType(accept, ['application/json', 'text/html']) === 'text/html';

interface ServedInterfaces {
  current: Interface;
  older: Interface;
  /** A browser that opens the root is redirected here. */
  home: string;
}

/** Serves `/`, `/openapi.json`, `/docs`, `/llms.txt`, and the document and page of the older API. */
export async function openapiRoutes(
  app: FastifyInstance,
  { postgres: { db } }: Pick<Context, 'postgres'>,
  { current, older, home }: ServedInterfaces,
): Promise<void> {
  const toText = (its: Interface) => JSON.stringify(openapiDocument(its));
  const send = (its: Interface) => prebuild('application/json', () => toText(its));
  app.get('/openapi.json', send(current));
  let triable: string | undefined;
  app.get(TRIABLE, async ({ protocol, host }, reply) => {
    triable ??= JSON.stringify(toReference(openapiDocument(current)));
    const examples = await listSampleExamples(db).catch(ignoreFailure('the page shows the examples of the document'));
    const own = new Map(examples?.map((one) => [one.example, one.own]));
    const origin = URL.canParse(`${protocol}://${host}`) ? new URL(`${protocol}://${host}`).origin : EXAMPLE_ORIGIN;
    const text = triable.replaceAll(EXAMPLE_ORIGIN, origin).replace(QUOTED, (whole, quote: string, example: string) => {
      const value = own.get(example);
      return value === undefined ? whole : `${quote}${JSON.stringify(value).slice(1, -1)}${quote}`;
    });
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(text);
  });
  app.get('/openapi-legacy.json', send(older));
  app.get(
    '/llms.txt',
    prebuild('text/plain', () => llmsText(current.operations)),
  );
  // Browsers are redirected; programs get a list of documents.
  app.get('/', (request, reply) =>
    wantsPage(request.headers.accept) ? reply.redirect(home) : reply.send({ data: ENTRANCES }),
  );
  const pages: DocsPage[] = [
    { prefix: '/docs', title: 'Rollcall API', document: TRIABLE },
    { prefix: '/docs/legacy', title: 'Rollcall API, older interface', document: '/openapi-legacy.json' },
  ];
  let scalar: Promise<FastifyInstance> | undefined;
  const open = () => {
    scalar ??= openScalar(pages);
    return scalar;
  };
  for (const { prefix } of pages) await app.register(async (scope) => docsPage(scope, prefix, open));
}
