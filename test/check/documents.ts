import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { installCheckers } from '../../clients/python-tools.ts';

const DOCUMENTS = ['test/check/openapi.json', 'test/check/openapi-legacy.json'];

/** What Redocly's recommended rules ask of every API and this one decides otherwise. */
const NOT_OURS = {
  // The product has no licence to name.
  'info-license': 'off',
  // `/v1/affiliates/links/bulk` beside `/v1/affiliates/links/{id}`: no id reads "bulk".
  'no-ambiguous-paths': 'off',
  // What stores of the documented protocol send stands in no operation; responses are shared by both documents.
  'no-unused-components': 'off',
} as const;

async function byRedocly(file: string, source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: NOT_OURS });
  const problems = await lintFromString({ source, absoluteRef: file, config });
  return problems.map(({ ruleId, message, location }) => `${file} ${location[0]?.pointer ?? ''} ${ruleId}: ${message}`);
}

async function bySchema(file: string, document: Record<string, unknown>): Promise<string[]> {
  const { valid, errors } = await new Validator().validate(document);
  return valid ? [] : [`${file} ${JSON.stringify(errors)}`];
}

const Components = z.object({ schemas: z.record(z.string(), z.unknown()) });
const Example = z.looseObject({ example: z.unknown(), examples: z.array(z.unknown()).optional() });

/** Compiles every schema with its pattern as a JavaScript program would, and holds each example against its own. */
function byExample(file: string, document: object): string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...document, $id: 'document' });
  const found: string[] = [];
  function visit(value: unknown, pointer: string): void {
    if (typeof value !== 'object' || value === null) return;
    const { data: schema } = Example.safeParse(value);
    const isSchema =
      schema !== undefined && !Array.isArray(value) && /\/(?:properties\/[^/]+|schema|items)$/.test(pointer);
    if (isSchema && (schema.example !== undefined || schema.examples)) {
      const fits = ajv.compile({ $ref: `document#${pointer}` });
      for (const example of schema.examples ?? [schema.example]) {
        if (!fits(example)) found.push(`${file} ${pointer}: ${JSON.stringify(example)} ${ajv.errorsText(fits.errors)}`);
      }
    }
    for (const [name, inner] of Object.entries(value)) {
      if (!/^examples?$/.test(name) || pointer.endsWith('/properties')) {
        visit(inner, `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`);
      }
    }
  }
  const { schemas } = Components.parse(z.looseObject({ components: z.unknown() }).parse(document).components);
  visit(schemas, '/components/schemas');
  return found;
}

async function byPython(): Promise<string[]> {
  const python = await installCheckers();
  const validating = promisify(execFile)(python, ['-m', 'openapi_spec_validator', ...DOCUMENTS]);
  return await validating.then(
    () => [],
    (error: unknown) => [error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)],
  );
}

/** What three validators and a compiler of schemas hold against the committed documents. */
export async function problemsOfDocuments(): Promise<string[]> {
  const found = DOCUMENTS.map(async (file) => {
    const source = await readFile(file, 'utf8');
    const document = z.looseObject({}).parse(JSON.parse(source));
    return [...(await byRedocly(file, source)), ...(await bySchema(file, document)), ...byExample(file, document)];
  });
  return [...(await Promise.all(found)).flat(), ...(await byPython())];
}
