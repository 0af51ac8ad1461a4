import { z } from 'zod';
import { exampleOf, idExample } from '../../operation/words/examples.ts';
import { jsonSchemaOf } from '../../operation/words/schema.ts';
import { type EventDeclaration, eventsShownTo, type OlderItem, type Variant } from '../../outbox/events.ts';
import { isRecord } from '../../values/wire.ts';

/** The JSON Schema of an event's `data`. A shape that has a name is written out, so that its properties are at the top. */
function dataSchemaOf({ data }: EventDeclaration) {
  const { schema, named } = jsonSchemaOf(data, 'output', '#/$defs/');
  const name = typeof schema.$ref === 'string' ? schema.$ref.slice('#/$defs/'.length) : '';
  const { [name]: own, ...others } = named;
  return isRecord(own) ? { schema: own, named: others } : { schema, named };
}

/** The same as self-contained JSON Schema. */
function schemaOf(event: EventDeclaration) {
  const { schema, named } = dataSchemaOf(event);
  return Object.keys(named).length === 0 ? schema : { ...schema, $defs: named };
}

const Statuses = z.object({ properties: z.object({ status: z.object({ enum: z.array(z.string()) }) }) });

/** An example of an event's `data`, with the status that the event's name implies. */
function sampleOf(fact: string, event: EventDeclaration): unknown {
  const { schema, named } = dataSchemaOf(event);
  const [noun = '', happened = ''] = fact.split('.');
  const sample = exampleOf(schema, { named, id: idExample(`/${noun}s/${noun}`) });
  const statuses = Statuses.safeParse(schema).data?.properties.status.enum ?? [];
  const status = [happened, fact === 'application.approved' ? 'accepted' : ''].find((word) => statuses.includes(word));
  return status === undefined || !isRecord(sample) ? sample : { ...sample, status };
}

/** The example data of a test event, as JSON text; undefined if the variant has no such event. */
export function sampleData(
  variant: Variant,
  shown: string,
  olderItem: OlderItem = (_fact, data) => data,
): string | undefined {
  const found = eventsShownTo(variant).find((event) => event.shownAs === shown);
  if (found === undefined) return undefined;
  const sample = sampleOf(found.name, found.event);
  return JSON.stringify(variant === 'legacy' ? olderItem(found.name, sample) : sample);
}

export const CatalogueEntry = z
  .object({
    event: z.string().describe('Event name.').meta({ example: 'commission.approved' }),
    when: z.string().describe('When the event is sent.').meta({ example: 'A commission was approved.' }),
    schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema of the `data` of the event.')
      .meta({ example: { type: 'object', properties: { id: { type: 'string' } } } }),
    sample: z
      .unknown()
      .describe('Example of the `data` of the event.')
      .meta({ example: { id: 'com_0Uo3xK2mVdT2aXs7LpRb' } }),
  })
  .meta({ id: 'WebhookEvent' });

/** The twelve events of the current interface. */
export const catalogue = () =>
  eventsShownTo('current').map(({ name, event }) => ({
    ...{ event: name, when: event.when },
    ...{ schema: schemaOf(event), sample: sampleOf(name, event) },
  }));
