import { type Command, InvalidArgumentError, Option } from 'commander';
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { readConfig } from '../../config.ts';
import { eventNames, eventsShownTo, LATEST, shownAs, type Variant } from '../../kit/outbox/events.ts';
import { newId } from '../../kit/values/ids.ts';
import { forward } from '../listening/forward.ts';
import { type Listening, listen } from '../listening/listen.ts';
import { findListening, listenSecret, noteListening } from '../listening/state.ts';
import { filled, wholeNumber } from './arguments.ts';
import { around } from './around.ts';
import { openRest } from './rest.ts';
import { jsonOption, printList } from './table.ts';

const print = (line: string) => void around().out.write(`${line}\n`);
const say = (line: string) => void around().err.write(`${line}\n`);

/** Loads all nouns, which declare their events. It takes two seconds: only for commands that need the names. */
const declareEvents = async (): Promise<void> => void (await import('../../interfaces/nouns.ts'));

function address(value: string): string {
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw new InvalidArgumentError('must be a URL that begins with http:// or https://.');
}

interface ListenOptions {
  forwardTo?: string;
  events?: string;
  since?: string;
  last?: number;
  legacy?: true;
}

/** The older interface's events that the current one does not have, and so neither has the feed. */
const outsideOfFeed = () =>
  eventsShownTo('legacy').flatMap(({ name, shownAs: older }) =>
    shownAs('current', name) === undefined ? [older] : [],
  );

/** A name with at most this many wrong letters is corrected. */
const TYPO = 2;

const unknownEvents = (names: readonly string[], variant: Variant) => {
  const knownEvents = eventNames(variant);
  const lead = `${names.join(', ')} ${names.length === 1 ? 'is not an event' : 'are not events'}.`;
  const [first = ''] = names;
  const near = closest(first, knownEvents);
  const isTypo = names.length === 1 && distance(first, near) <= TYPO;
  return new Error(
    isTypo ? `${lead}\n(Did you mean ${near}?)` : `${lead} The events are:\n  ${knownEvents.join('\n  ')}`,
  );
};

/** `--events` as the feed names them: with `--legacy` they are the older names. */
function parseTypes(events: string | undefined, legacy: true | undefined): string[] {
  const names = events?.split(',').flatMap((name) => name.trim() || []) ?? [];
  const variant = legacy ? 'legacy' : 'current';
  const unknown = names.filter((name) => !eventNames(variant).includes(name));
  if (unknown.length > 0) throw unknownEvents(unknown, variant);
  if (!legacy) return names;
  const missing = names.filter((name) => outsideOfFeed().includes(name));
  if (missing.length > 0) {
    throw new Error(`The feed has no ${missing.join(', ')}: subscribe with POST /api/v1/webhooks to receive them.`);
  }
  return names.map((name) => eventsShownTo('legacy').find((event) => event.shownAs === name)?.name ?? name);
}

async function openConversion(legacy: true | undefined): Promise<Listening['convert']> {
  // The feed has the current names and shapes already.
  if (!legacy) return (event, data) => ({ event, data });
  const { olderItem } = await import('../../interfaces/legacy/events.ts');
  return (event, data) => {
    const name = shownAs('legacy', event);
    return name === undefined ? undefined : { event: name, data: olderItem(event, data) };
  };
}

/** Aborted by Ctrl-C and SIGTERM. */
function untilStopped(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  return stopping.signal;
}

async function runListen({ forwardTo, events, since, last, legacy }: ListenOptions): Promise<void> {
  if (events !== undefined || legacy) await declareEvents();
  const types = parseTypes(events, legacy);
  const { directory } = readConfig(around().env);
  const listening: Listening = {
    rest: openRest(),
    secret: listenSecret(directory),
    target: forwardTo,
    after: since ?? LATEST,
    variant: legacy ? 'legacy' : 'current',
    convert: await openConversion(legacy),
    types,
    signal: around().signal ?? untilStopped(),
    print,
    say,
  };
  try {
    await listen(listening, last, () => {
      if (forwardTo !== undefined) {
        noteListening(directory, forwardTo);
        say(`Forwarding to ${forwardTo}. The signing secret is ${listening.secret} and stays the same.`);
      }
      const missing = legacy ? outsideOfFeed() : [];
      if (missing.length > 0)
        say(`The feed has no ${missing.join(', ')}: only webhooks of the older interface get them.`);
      say(`Listening to ${listening.rest.url}; Ctrl-C ends it.`);
    });
  } finally {
    if (forwardTo !== undefined) noteListening(directory, undefined);
  }
}

const Webhooks = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      url: z.string(),
      events: z.array(z.string()),
      status: z.string(),
      active: z.boolean(),
      last_status_code: z.number().nullable(),
    }),
  ),
});
const Deliveries = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      event: z.string(),
      state: z.string(),
      attempts: z.number(),
      event_id: z.string(),
      last_status_code: z.number().nullable(),
      created_at: z.string(),
    }),
  ),
});
const Made = z.object({ data: z.object({ id: z.string() }) });

/** Sends a sample to the running `listen`, or else to the brand's newest active webhook. */
async function runTrigger(event: string): Promise<void> {
  const [{ sampleData }] = await Promise.all([import('../../platform/webhooks/event-catalogue.ts'), declareEvents()]);
  const data = sampleData('current', event);
  if (data === undefined) throw unknownEvents([event], 'current');
  const listening = findListening(readConfig(around().env).directory);
  if (listening) {
    const eventId = newId('evt_test', Date.now());
    const sample = { variant: 'current' as const, eventId, event, createdAt: new Date(), data, isTest: true };
    return await forward(listening.target, listening.secret, sample, print);
  }
  const rest = openRest();
  const webhooks = Webhooks.parse(await rest.send('GET', '/v1/webhooks?limit=100'));
  const target = webhooks.data.find(({ active }) => active);
  if (!target)
    throw new Error('No `listen --forward-to` is running, and the brand has no active webhook to send it to.');
  const delivery = Made.parse(await rest.send('POST', `/v1/webhooks/${target.id}/test`, { event }));
  print(delivery.data.id);
}

/** Commands for developers who build a receiver. They use only REST, with a brand's key. */
export function webhookCommands(program: Command): void {
  program
    .command('listen')
    .description("print a brand's events as they happen, or send them, signed, to a receiver on this machine")
    .option('--forward-to <address>', 'where to send them, such as http://127.0.0.1:3000/hook', address)
    .option('--events <names>', 'only these events, separated by commas', filled)
    .option('--since <event id>', 'start after this event instead of with the next one', filled)
    .addOption(
      new Option('--last <count>', 'start with this many of the newest events')
        .argParser(wholeNumber(1, 10_000))
        .conflicts('since'),
    )
    .option('--legacy', 'use the format and the event names of the older interface')
    .action(runListen);
  program
    .command('trigger')
    .description('send a sample to the running `listen`, or else to the newest active webhook')
    .argument('<event>', 'such as commission.approved', filled)
    .action(runTrigger);
  const webhook = program.command('webhook').description("a brand's webhooks, by REST");
  webhook
    .command('list')
    .description('the newest hundred')
    .addOption(jsonOption())
    .action(async ({ json }: { json?: boolean }) => {
      const { data } = Webhooks.parse(await openRest().send('GET', '/v1/webhooks?limit=100'));
      const rows = data.map(({ active: _active, events, ...one }) => ({ ...one, events: events.join(',') }));
      printList(['id', 'status', 'last_status_code', 'url', 'events'], rows, json);
    });
  webhook
    .command('deliveries')
    .description('newest first, the last hundred')
    .argument('<webhook>', 'its id', filled)
    .addOption(jsonOption())
    .action(async (id: string, { json }: { json?: boolean }) => {
      const where = `/v1/webhooks/${encodeURIComponent(id)}/deliveries?limit=100`;
      const { data } = Deliveries.parse(await openRest().send('GET', where));
      printList(['id', 'created_at', 'state', 'attempts', 'last_status_code', 'event', 'event_id'], data, json);
    });
  webhook
    .command('resend')
    .description('send an event again; prints the new delivery')
    .argument('<delivery>', 'its id', filled)
    .action(async (id: string) => {
      const delivery = Made.parse(
        await openRest().send('POST', `/v1/webhooks/deliveries/${encodeURIComponent(id)}/resend`, {}),
      );
      print(delivery.data.id);
    });
}
