import { z } from 'zod';
import { exampleOf } from '../../operation/words/examples.ts';
import { jsonSchemaOf } from '../../operation/words/schema.ts';
import { EVENT_PAYLOADS, type EventName, type OlderItem, SHOWN_AS, type Variant } from '../../outbox/events.ts';
import { isRecord } from '../../values/wire.ts';

/** When the current interface announces what. */
const WHEN: Readonly<Record<keyof (typeof SHOWN_AS)['current'], string>> = {
  'application.received': 'A creator applied to a campaign.',
  'application.approved': 'An application was accepted.',
  'commission.created': 'A sale was attributed to a creator.',
  'commission.approved': 'A commission was approved for payout, by a review or by itself.',
  'payout.created': 'A payout was recorded.',
  'content.refreshed': "A tracked post's metrics were read again.",
  'message.received': 'A creator sent a message.',
  'deliverable.submitted': 'A creator handed in content for a deliverable.',
  'deliverable.approved': 'A submission was approved.',
  'deliverable.revision_requested': 'A submission was sent back with notes.',
  'deliverable.declined': 'A creator declined a deliverable.',
  'deliverable.cancelled': 'A deliverable was cancelled before it was completed.',
};

const PREFIXES: Readonly<Record<string, string>> = {
  ...{ application: 'app', commission: 'com', payout: 'pay', content: 'cnt', message: 'msg', deliverable: 'dlv' },
  ...{ campaign: 'cmp', contract: 'ctr', shipment: 'shp', roster: 'rst' },
};

const facts = new Set<string>(Object.keys(EVENT_PAYLOADS));
const isFact = (name: string): name is EventName => facts.has(name);

/** The fact behind a variant's name of it. */
function factOf(variant: Variant, shown: string): EventName | undefined {
  const fact = Object.entries(SHOWN_AS[variant]).find(([, name]) => name === shown)?.[0];
  return fact !== undefined && isFact(fact) ? fact : undefined;
}

/** The shape of an event's `data`, as JSON Schema that stands by itself. */
function schemaOf(fact: EventName) {
  const { schema, named } = jsonSchemaOf(EVENT_PAYLOADS[fact], 'output', '#/$defs/');
  return Object.keys(named).length === 0 ? schema : { ...schema, $defs: named };
}

const Statuses = z.object({ properties: z.object({ status: z.object({ enum: z.array(z.string()) }) }) });

/** An example of an event's `data`: what was approved has the status that its noun has then. */
function sampleOf(fact: EventName): unknown {
  const { schema, named } = jsonSchemaOf(EVENT_PAYLOADS[fact], 'output', '#/$defs/');
  const [noun = '', happened = ''] = fact.split('.');
  const sample = exampleOf(schema, { named, id: `${PREFIXES[noun] ?? 'evt'}_0Uo3xK2mVdT2aXs7LpRb` });
  const statuses = Statuses.safeParse(schema).data?.properties.status.enum ?? [];
  const status = [happened, fact === 'application.approved' ? 'accepted' : ''].find((word) => statuses.includes(word));
  return status === undefined || !isRecord(sample) ? sample : { ...sample, status };
}

/** The example that a test event carries, as JSON text; undefined when the variant has no such name. */
export function sampleData(
  variant: Variant,
  shown: string,
  olderItem: OlderItem = (_fact, data) => data,
): string | undefined {
  const fact = factOf(variant, shown);
  if (fact === undefined) return undefined;
  const sample = sampleOf(fact);
  return JSON.stringify(variant === 'legacy' ? olderItem(fact, sample) : sample);
}

export const CatalogueEntry = z
  .object({
    event: z.string().meta({ example: 'commission.approved' }),
    when: z.string().describe('When it is sent.').meta({ example: 'A commission was approved.' }),
    schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema of `data`.')
      .meta({ example: { type: 'object', properties: { id: { type: 'string' } } } }),
    sample: z
      .unknown()
      .describe('An example of `data`.')
      .meta({ example: { id: 'com_0Uo3xK2mVdT2aXs7LpRb' } }),
  })
  .meta({ id: 'WebhookEvent' });

const names = Object.keys(WHEN).filter((name): name is keyof typeof WHEN => Object.hasOwn(WHEN, name));

/** The twelve events of the current interface. */
export const catalogue = () =>
  names.map((event) => ({ event, when: WHEN[event], schema: schemaOf(event), sample: sampleOf(event) }));
