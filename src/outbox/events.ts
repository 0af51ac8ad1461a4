import type { z } from 'zod';

/** The interface that a subscription was made on. */
export type Variant = 'current' | 'legacy';

/** An event's data in the form of the older interface. */
export type OlderItem = (fact: string, data: unknown) => unknown;

export interface EventDeclaration {
  /** The item that it carries. */
  data: z.ZodObject;
  /** When it is emitted, as a sentence. */
  when: string;
  /** Whose subscribers get it; nobody's where only our own consumers do. */
  shownTo: readonly Variant[];
  /** What the older interface calls it, where that is another name. */
  olderName?: string;
}

/** Every event by its name. A noun adds its own, beside its shapes: `interface Events extends EventsOf<typeof campaignEvents> {}`. */
// biome-ignore lint/suspicious/noEmptyInterface: nouns declare its members.
export interface Events {}
export type EventsOf<Declared extends Record<string, EventDeclaration>> = {
  [Name in keyof Declared]: z.output<Declared[Name]['data']>;
};

export type EventName = keyof Events;
export type EventPayload<Name extends EventName> = Events[Name];

/** Puts an event into its transaction's outbox. */
export type Emit = <Name extends EventName>(event: Name, data: EventPayload<Name>) => void;

const declared = new Map<string, EventDeclaration>();

/** Declares a noun's events: their names, what they carry, when they are emitted and to whom they are shown. */
export function events<const Declared extends Record<string, EventDeclaration>>(of: Declared): Declared {
  // Without the shape's own name, so that a schema of it stands by itself.
  for (const [name, event] of Object.entries(of)) declared.set(name, { ...event, data: event.data.extend({}) });
  return of;
}

export const findEvent = (name: string): EventDeclaration | undefined => declared.get(name);

/** What a variant's subscribers call an event; undefined where it is not shown to them. */
export function shownAs(variant: Variant, name: string): string | undefined {
  const event = declared.get(name);
  if (!event?.shownTo.includes(variant)) return undefined;
  return variant === 'legacy' ? (event.olderName ?? name) : name;
}

/** The events that a variant's subscribers may ask for, in alphabetical order of their names there. */
export function eventsShownTo(variant: Variant): { name: string; shownAs: string; event: EventDeclaration }[] {
  return [...declared]
    .flatMap(([name, event]) => {
      const shown = shownAs(variant, name);
      return shown === undefined ? [] : [{ name, shownAs: shown, event }];
    })
    .sort((one, other) => (one.shownAs < other.shownAs ? -1 : 1));
}

/** The names that a variant's subscribers may ask for. */
export const eventNames = (variant: Variant): string[] => eventsShownTo(variant).map((event) => event.shownAs);
