import { z } from 'zod';
import { eventNames, eventsShownTo, type OlderItem, type Variant } from '../../kit/outbox/events.ts';
import { ApiError, type Problem } from '../../kit/values/errors.ts';
import { createSample, toEventSchema } from './webhooks.shapes.ts';

/** Throws VALIDATION_ERROR with a detail for each name that the variant does not know. Repeats are folded. */
export function parseEventNames(variant: Variant, names: readonly string[]): string[] {
  const allowed = eventNames(variant);
  const details = names.flatMap((name, i): Problem[] => {
    if (allowed.includes(name)) return [];
    const shown = JSON.stringify(name.slice(0, 60));
    return [{ field: `events.${i}`, code: 'unknown_event', message: `${shown} is not an event; see \`allowed\`.` }];
  });
  if (details.length === 0) return [...new Set(names)];
  const message = `events: ${details.length === 1 ? 'a name is' : `${details.length} names are`} unknown.`;
  throw new ApiError('VALIDATION_ERROR', message, { details, facts: { allowed } });
}

/** The example data of a test event, as JSON text; undefined if the variant has no such event. */
export function sampleData(
  variant: Variant,
  shown: string,
  olderItem: OlderItem = (_fact, data) => data,
): string | undefined {
  const found = eventsShownTo(variant).find((event) => event.shownAs === shown);
  if (found === undefined) return undefined;
  const sample = createSample(found.name, found.event);
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
    event: name,
    when: event.when,
    schema: toEventSchema(event),
    sample: createSample(name, event),
  }));
