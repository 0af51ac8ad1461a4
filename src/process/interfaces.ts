import type { Interface } from '../interfaces/http/openapi/document.ts';
import { currentEvents } from '../interfaces/http/openapi/webhooks.ts';
import { olderEvents } from '../interfaces/legacy/events.ts';
import { legacyOperations } from '../interfaces/legacy/operations.ts';
import { operations } from '../interfaces/nouns.ts';

/** The two interfaces with their operations and events. `now` decides what has expired, for the older one. */
export function interfaces(now: () => Date): { current: Interface; older: Interface } {
  return {
    current: { variant: 'current', operations, events: currentEvents() },
    older: { variant: 'legacy', operations: legacyOperations(now), events: olderEvents() },
  };
}
