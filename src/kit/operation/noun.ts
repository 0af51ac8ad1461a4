import type { Template } from '../mail/template.ts';
import type { Consumer } from '../outbox/relay.ts';
import type { Context } from './context.ts';
import type { Job, QueuedWork } from './job.ts';
import { registerIds } from './json-schema.ts';
import type { Operation } from './operation.ts';

/** A section of the API reference. */
export interface Tag {
  name: string;
  /** A sentence about the section. */
  about: string;
}

/** Follows the outbox at its own position. */
export interface EventConsumer {
  name: string;
  open(context: Context): Consumer['deliver'];
}

interface NounDeclaration<Operations extends readonly Operation[]> {
  /** Its folder's name. */
  name: string;
  /** The section of the reference that this noun introduces. */
  tag?: Tag;
  /** The id prefixes, by the words of paths and properties that hold such rows. */
  ids?: Readonly<Record<string, string>>;
  operations: Operations;
  jobs?: readonly Job[];
  work?: readonly QueuedWork[];
  consumers?: readonly EventConsumer[];
  /** Its templates, by the kind of mail. */
  mails?: Readonly<Record<string, Template>>;
}

export type Noun<Operations extends readonly Operation[] = readonly Operation[]> = Required<
  Omit<NounDeclaration<Operations>, 'tag'>
> &
  Pick<NounDeclaration<Operations>, 'tag'>;

/** Operations that only people in the web app may call. They are in no document, and agents have no tool for them. */
export const isForSessions = ({ callers }: Operation): boolean => callers.every((caller) => caller === 'session');

const operationsById = new Map<string, Operation>();

/** Declares everything that the rest of the program needs to know about a noun. */
export function noun<const Operations extends readonly Operation[]>(of: NounDeclaration<Operations>): Noun<Operations> {
  const { ids = {} } = of;
  registerIds(ids);
  for (const operation of of.operations) operationsById.set(operation.id, operation);
  return { jobs: [], work: [], consumers: [], mails: {}, ...of, ids };
}

/** An operation that keys may call. */
export function findOperation(id: string): Operation | undefined {
  const operation = operationsById.get(id);
  return operation && !isForSessions(operation) ? operation : undefined;
}
