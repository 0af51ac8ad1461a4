import { LRUCache } from 'lru-cache';
import type { CallerKind } from '../../kit/access/keys/callers.ts';
import type { Operation } from '../../kit/operation/operation.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { factsFor } from './inputs.ts';
import { type Bound, bind, type NameTool, type Tool } from './tools.ts';

/** The tools of an installation, and the selection that a connection requests. */
export interface Catalog {
  find(name: string): Bound | undefined;
  toolsets: readonly string[];
  /** Describes every tool that the caller may call, listed or not, by toolset. */
  describe(kind: CallerKind, scopes: readonly string[] | null): ToolsetSummary[];
  /** Throws VALIDATION_ERROR if the selection names an unknown tool or toolset. */
  select(query: URLSearchParams): Selection;
}

export interface ToolsetSummary {
  toolset: string;
  tools: { name: string; summary: string; is_listed: boolean }[];
}

/** Tells an agent of the tools that are not listed; the protocol's part alone knows it. */
export const LIST_TOOLSETS: Tool = {
  name: 'list_toolsets',
  description: 'Every tool by toolset, also those that this list leaves out, and how to get them. Example: {}',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export interface Selection {
  has(name: string): boolean;
  /** True if results have one line of text instead of the serialized JSON. */
  isSummary: boolean;
  toolsFor(kind: CallerKind): Tool[];
}

/** A noun's tag as a toolset: "Affiliate links" is `affiliate-links`. */
const getToolset = ({ tag }: Operation) => tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** True if agents can call the operation as a tool. */
export const isTool = ({ forAgents, takesFile, callers }: Operation): boolean =>
  forAgents !== false && !takesFile && callers.some((kind) => kind !== 'session');

/** The scope of a token that may only call what changes nothing. */
export const READONLY = 'readonly';

/** True if a token with these scopes may call the operation; null: a key, which has none. */
export function isGranted(scopes: readonly string[] | null, operation: Operation): boolean {
  if (scopes === null) return true;
  return scopes.includes(getToolset(operation)) && (operation.hints.readOnly || !scopes.includes(READONLY));
}

const PARAMETERS = ['toolsets', 'tools', 'readonly', 'output', 'summary'];
const MAX_SELECTIONS = 500;

function listed(query: URLSearchParams, name: string): string[] | undefined {
  const names = query.getAll(name).flatMap((text) => text.split(',').map((one) => one.trim()));
  const givenNames = names.filter((one) => one !== '');
  return givenNames.length > 0 ? givenNames : undefined;
}

const FLAGS = ['readonly', 'output', 'summary'];
/** Values of a flag; `?readonly` alone sets it. */
const FLAG_VALUES: ReadonlyMap<string, boolean> = new Map([
  ...['', '1', 'true', 'yes', 'on'].map((text): [string, boolean] => [text, true]),
  ...['0', 'false', 'no', 'off'].map((text): [string, boolean] => [text, false]),
]);

const readFlag = (text: string): boolean | undefined => FLAG_VALUES.get(text.trim().toLowerCase());

/** Omits what an update would repeat of its arguments from the tool that creates, which is in the same toolset. */
function withoutRepeats(all: readonly Bound[]): Bound[] {
  const said = new Set<string>();
  const toKey = (operation: Operation, name: string, text: unknown) =>
    JSON.stringify([getToolset(operation), name, text]);
  for (const { operation, tool } of all) {
    if (operation.method !== 'POST') continue;
    for (const [name, { description }] of Object.entries(tool.inputSchema.properties)) {
      if (description !== undefined) said.add(toKey(operation, name, description));
    }
  }
  return all.map((bound) => {
    const { operation, tool } = bound;
    if (operation.method !== 'PATCH') return bound;
    const properties = Object.fromEntries(
      Object.entries(tool.inputSchema.properties).map(([name, { description, ...schema }]) => {
        const isSaid = description === undefined || said.has(toKey(operation, name, description));
        return [name, isSaid ? schema : { ...schema, description }];
      }),
    );
    return { ...bound, tool: { ...tool, inputSchema: { ...tool.inputSchema, properties } } };
  });
}

const isListed = ({ operation }: Bound): boolean => factsFor(operation).isListed !== false;

export function openCatalog(operations: readonly Operation[]): Catalog {
  const offeredOperations = operations.filter(isTool);
  const nameTool: NameTool = (method = 'GET', path) => {
    const own = offeredOperations.filter((one) => one.path === path);
    return (own.find((one) => one.method === method) ?? own[0])?.id;
  };
  const ids = new Set(offeredOperations.map(({ id }) => id));
  const toolsets = new Set(offeredOperations.map(getToolset));
  let cachedTools: Map<string, Bound> | undefined;
  /** The tools by name. Describing them all takes as long as the rest of the start, so the first message does it. */
  const tools = (): Map<string, Bound> => {
    cachedTools ??= new Map(
      withoutRepeats(offeredOperations.map((operation) => bind(operation, nameTool))).map((one) => [
        one.operation.id,
        one,
      ]),
    );
    return cachedTools;
  };
  const selections = new LRUCache<string, Selection>({ max: MAX_SELECTIONS });

  function findProblems(query: URLSearchParams): Problem[] {
    const wrong = (field: string, code: string, message: string): Problem => ({ field, code, message });
    return [
      ...[...query.keys()]
        .filter((name) => !PARAMETERS.includes(name))
        .map((name) => wrong(name, 'unknown', `is not a parameter of this URL, which takes ${PARAMETERS.join(', ')}.`)),
      ...(listed(query, 'toolsets') ?? [])
        .filter((name) => !toolsets.has(name))
        .map((name) => wrong('toolsets', 'unknown', `has no set ${name}; there are ${[...toolsets].join(', ')}.`)),
      ...(listed(query, 'tools') ?? [])
        .filter((name) => !ids.has(name))
        .map((name) => wrong('tools', 'unknown', `has no tool ${name}.`)),
      ...FLAGS.filter((name) => query.getAll(name).some((text) => readFlag(text) === undefined)).map((name) =>
        wrong(name, 'invalid_value', 'must be 1 or 0.'),
      ),
    ];
  }

  function select(query: URLSearchParams): Selection {
    const cachedSelection = selections.get(query.toString());
    if (cachedSelection) return cachedSelection;
    const problems = findProblems(query);
    if (problems.length > 0) throw validationError(problems);
    const sets = listed(query, 'toolsets');
    const toolNames = listed(query, 'tools');
    const isWhole = sets !== undefined || toolNames !== undefined;
    const isChosen = ({ operation }: Bound) =>
      !isWhole || sets?.includes(getToolset(operation)) === true || toolNames?.includes(operation.id) === true;
    const isFlagged = (name: string) => query.getAll(name).some((text) => readFlag(text) === true);
    const chosenTools = [...tools().values()]
      .filter(isChosen)
      .filter(({ operation }) => operation.hints.readOnly || !isFlagged('readonly'));
    const names = new Set(chosenTools.map(({ operation }) => operation.id));
    const listable = isWhole
      ? chosenTools.map(({ operation }) => bind(operation, nameTool, true))
      : chosenTools.filter(isListed);
    const lists = new Map<CallerKind, Tool[]>();
    for (const kind of ['brand', 'data'] as const) {
      const own = listable
        .filter(({ operation }) => operation.callers.includes(kind))
        .map(({ tool, outputSchema }) => (isFlagged('output') && outputSchema ? { ...tool, outputSchema } : tool));
      lists.set(kind, isWhole ? own : [...own, LIST_TOOLSETS]);
    }
    const selection: Selection = {
      has: (name) => names.has(name),
      isSummary: isFlagged('summary'),
      toolsFor: (kind) => lists.get(kind) ?? [],
    };
    selections.set(query.toString(), selection);
    return selection;
  }

  function describe(kind: CallerKind, scopes: readonly string[] | null): ToolsetSummary[] {
    const own = [...tools().values()].filter(
      ({ operation }) => operation.callers.includes(kind) && isGranted(scopes, operation),
    );
    return [...Map.groupBy(own, ({ operation }) => getToolset(operation))].map(([toolset, bounds]) => ({
      toolset,
      tools: bounds.map((bound) => ({
        name: bound.operation.id,
        summary: bound.operation.summary,
        is_listed: isListed(bound),
      })),
    }));
  }

  return { find: (name) => tools().get(name), toolsets: [...toolsets], describe, select };
}
