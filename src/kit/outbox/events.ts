import type { z } from 'zod';

/** The interface that a subscription was created on. */
export type Variant = 'current' | 'legacy';

/** Sent as `after`, starts the feed behind the newest event. */
export const LATEST = 'latest';

/** Converts an event's data to the shape of the older interface. */
export type OlderItem = (fact: string, data: unknown) => unknown;

export interface EventDeclaration {
  /** The shape of its data. */
  data: z.ZodObject;
  /** A sentence that says when it is emitted. */
  when: string;
  /** The interfaces whose subscribers get it. Empty: only internal consumers get it. */
  shownTo: readonly Variant[];
  /** Its name in the older interface, if that differs. */
  olderName?: string;
}

/**
 * Every event by its name. A noun adds its own, next to its shapes: `interface Events extends EventsOf<typeof
 * campaignEvents> {}`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: nouns declare its members.
export interface Events {}
export type EventsOf<Declared extends Record<string, EventDeclaration>> = {
  [Name in keyof Declared]: z.output<Declared[Name]['data']>;
};

export type EventName = keyof Events;
export type EventPayload<Name extends EventName> = Events[Name];

/** Adds an event to the outbox in the current transaction. */
export type Emit = <Name extends EventName>(event: Name, data: EventPayload<Name>) => void;

const eventsByName = new Map<string, EventDeclaration>();

/** Declares a noun's events: their names and data, when they are emitted, and who gets them. */
export function events<const Declared extends Record<string, EventDeclaration>>(of: Declared): Declared {
  // Without the shape's own name, so that its schema is self-contained.
  for (const [name, event] of Object.entries(of)) eventsByName.set(name, { ...event, data: event.data.extend({}) });
  return of;
}

/** The name of an event for a variant's subscribers; undefined if they do not get it. */
export function shownAs(variant: Variant, name: string): string | undefined {
  const event = eventsByName.get(name);
  if (!event?.shownTo.includes(variant)) return undefined;
  return variant === 'legacy' ? (event.olderName ?? name) : name;
}

/** The events that a variant's subscribers can subscribe to, sorted by their names there. */
export function eventsShownTo(variant: Variant): { name: string; shownAs: string; event: EventDeclaration }[] {
  return [...eventsByName]
    .flatMap(([name, event]) => {
      const eventName = shownAs(variant, name);
      return eventName === undefined ? [] : [{ name, shownAs: eventName, event }];
    })
    .sort((one, other) => (one.shownAs < other.shownAs ? -1 : 1));
}

/** The event names that a variant's subscribers can subscribe to. */
export const eventNames = (variant: Variant): string[] => eventsShownTo(variant).map((event) => event.shownAs);
