import { z } from 'zod';
import { idExample, makeExample, toJsonSchema } from '../../kit/operation/json-schema.ts';
import {
  type EventDeclaration,
  eventNames,
  eventsShownTo,
  type OlderItem,
  type Variant,
} from '../../kit/outbox/events.ts';
import { ApiError, type Problem } from '../../kit/values/errors.ts';
import { isRecord } from '../../kit/values/wire.ts';

/** Throws VALIDATION_ERROR with a detail for each name that the variant does not know. Repeats are folded. */
export function parseEventNames(variant: Variant, names: readonly string[]): string[] {
  const allowed = eventNames(variant);
  const details = names.flatMap((name, i): Problem[] => {
    if (allowed.includes(name)) return [];
    const quotedName = JSON.stringify(name.slice(0, 60));
    return [
      { field: `events.${i}`, code: 'unknown_event', message: `${quotedName} is not an event; see \`allowed\`.` },
    ];
  });
  if (details.length === 0) return [...new Set(names)];
  const message = `events: ${details.length === 1 ? 'a name is' : `${details.length} names are`} unknown.`;
  throw new ApiError('VALIDATION_ERROR', message, { details, facts: { allowed } });
}

/** Reads the JSON Schema of an event's `data`. A named shape is written out, so that its properties are at the top. */
function readDataSchema({ data }: EventDeclaration) {
  const { schema, named } = toJsonSchema(data, 'output', '#/$defs/');
  const name = typeof schema.$ref === 'string' ? schema.$ref.slice('#/$defs/'.length) : '';
  const { [name]: own, ...others } = named;
  return isRecord(own) ? { schema: own, named: others } : { schema, named };
}

function toEventSchema(event: EventDeclaration) {
  const { schema, named } = readDataSchema(event);
  return Object.keys(named).length === 0 ? schema : { ...schema, $defs: named };
}

const Statuses = z.object({ properties: z.object({ status: z.object({ enum: z.array(z.string()) }) }) });

/** Creates an example of an event's `data`, with the status that the event's name implies. */
function createSample(fact: string, event: EventDeclaration): unknown {
  const { schema, named } = readDataSchema(event);
  const [noun = '', verb = ''] = fact.split('.');
  const sample = makeExample(schema, { named, id: idExample(`/${noun}s/${noun}`) });
  const statuses = Statuses.safeParse(schema).data?.properties.status.enum ?? [];
  const status = [verb, fact === 'application.approved' ? 'accepted' : ''].find((word) => statuses.includes(word));
  return status === undefined || !isRecord(sample) ? sample : { ...sample, status };
}

/** Creates the data of a test event, as JSON text; undefined if the variant has no such event. */
export function sampleData(
  variant: Variant,
  shown: string,
  olderItem: OlderItem = (_fact, data) => data,
): string | undefined {
  const match = eventsShownTo(variant).find((event) => event.shownAs === shown);
  if (match === undefined) return undefined;
  const sample = createSample(match.name, match.event);
  return JSON.stringify(variant === 'legacy' ? olderItem(match.name, sample) : sample);
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
export const listEventCatalogue = () =>
  eventsShownTo('current').map(({ name, event }) => ({
    event: name,
    when: event.when,
    schema: toEventSchema(event),
    sample: createSample(name, event),
  }));
