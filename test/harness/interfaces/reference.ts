import { z } from 'zod';

/** A parameter of the reference: its value, and whether the page leaves it off. */
const Parameter = z.object({
  ...{ in: z.string().optional(), name: z.string().optional(), example: z.unknown().optional() },
  schema: z.object({ example: z.unknown().optional(), default: z.unknown().optional() }).optional(),
  examples: z.object({ default: z.object({ 'x-disabled': z.boolean() }) }).optional(),
});
/** The reference with the examples with which its page tries an operation. */
export const ReferenceWithExamples = z.object({
  paths: z.record(
    z.string(),
    z.object({ get: z.object({ operationId: z.string(), parameters: z.array(Parameter) }).optional() }),
  ),
});

/** The page sends this of a parameter unless somebody changes it. */
export function sentBy({ in: place, name = '', example, schema, examples }: z.output<typeof Parameter>) {
  const value = examples?.default['x-disabled'] ? undefined : (example ?? schema?.example ?? schema?.default);
  return { in: place, name, value };
}
