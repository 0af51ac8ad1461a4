import {
  keepPreviousData,
  type UseQueryResult,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useSay } from '../kit/toast.tsx';
import {
  type Answer,
  acceptedAfterMs,
  type Body,
  CallError,
  call,
  type Input,
  type OperationId,
  type Params,
  type Query,
  type Row,
  send,
} from './call.ts';
import { createAnswerCheck, isListed, type ListPage } from './check.ts';

const PAGE = 100;

/** A query is sent again as often as its page wants, and once the API accepts calls again. */
export const sentAgain =
  (everyMs?: number) =>
  ({ state: { error } }: { state: { error: Error | null } }): number | false =>
    acceptedAfterMs(error) ?? everyMs ?? false;

interface CallOptions<Id extends OperationId> {
  enabled?: boolean;
  refetchMs?: number;
  /** It is not reloaded any more once this holds. */
  until?: (answer: Answer<Id>) => boolean;
  /** Reads the answer each time, because an old one must not be shown, such as who is owed money. */
  isFresh?: boolean;
}

/** A query whose answer stays if it cannot be read again, and with it what people have typed beside it. */
function lasting<T>({ data, error, refetch, isPending, isFetching, isPlaceholderData }: UseQueryResult<T>) {
  return { data, error: data === undefined ? error : null, refetch, isPending, isFetching, isPlaceholderData };
}

/** One answer, cached while it is fresh; the input is part of the cache key. */
export function useCall<Id extends OperationId>(id: Id, input: Input<Id> = {}, options: CallOptions<Id> = {}) {
  const { refetchMs, until } = options;
  const query = useQuery<Answer<Id>>({
    queryKey: [id, input],
    queryFn: () => call(id, input),
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data !== undefined && until?.(state.data) ? false : sentAgain(refetchMs)({ state }),
    ...(options.isFresh ? { gcTime: 0 } : {}),
  });
  return options.isFresh ? { ...lasting(query), error: query.error } : lasting(query);
}

export interface Rows<Item> {
  /** The visible rows that are loaded, in order. */
  rows: readonly Item[];
  /** The row at this index; undefined until it is loaded. */
  at(index: number): Item | undefined;
  /** Reads the rows from one index to another, whether they are visible or not. */
  read(first: number, last: number): Promise<readonly Item[]>;
  /** Reports which indexes are visible, so that they are loaded. */
  see(first: number, last: number): void;
  total: number | undefined;
  /** The parameters that narrow the list. */
  query: object;
  error: Error | null;
  isLoading: boolean;
  /** The rows are those of the previous query, until those of this one are loaded. */
  isOld: boolean;
  again(): void;
}

interface ListOptions<Id extends OperationId> {
  params?: Params<Id>;
  refetchMs?: number;
}

/** A list of any length that loads only its visible part, a hundred rows at a time. */
export function useRows<Id extends OperationId>(
  id: Id,
  query: Query<Id>,
  { params, refetchMs }: ListOptions<Id> = {},
): Rows<Row<Id>> {
  const cache = useQueryClient();
  const [from, setFrom] = useState(1);
  const [to, setTo] = useState(1);
  const toPageQuery = (page: number) => ({
    queryKey: [id, 'rows', query, params, page],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      send(id, { params: { ...params }, query: { ...query, limit: PAGE, page }, signal }, isListed<Row<Id>>),
  });
  const refetchInterval = sentAgain(refetchMs);
  const head = useQuery({ ...toPageQuery(1), refetchInterval, placeholderData: keepPreviousData });
  const total = head.data?.pagination.total;
  const last = Math.min(to, Math.ceil((total ?? 0) / PAGE));
  const numbers = Array.from({ length: Math.max(last - from + 1, 0) }, (_, i) => from + i).filter((page) => page > 1);
  const others = useQueries({ queries: numbers.map((page) => ({ ...toPageQuery(page), refetchInterval })) });
  const inSight = new Map(numbers.map((page, i) => [page, others[i]?.data?.data ?? []]));
  inSight.set(1, head.data?.data ?? []);
  const pages = [head, ...others];
  return {
    rows: [...inSight]
      .filter(([page]) => page >= from && page <= to)
      .toSorted(([one], [other]) => one - other)
      .flatMap(([, rows]) => rows),
    at: (index) => inSight.get(Math.floor(index / PAGE) + 1)?.[index % PAGE],
    read: async (first, end) => {
      const rows: Row<Id>[] = [];
      const start = Math.floor(first / PAGE);
      for (let page = start + 1; page <= Math.floor(end / PAGE) + 1; page += 1) {
        rows.push(...(await cache.fetchQuery(toPageQuery(page))).data);
      }
      return rows.slice(first - start * PAGE, end - start * PAGE + 1);
    },
    see: (first, end) => {
      setFrom(Math.floor(first / PAGE) + 1);
      setTo(Math.floor(end / PAGE) + 1);
    },
    total,
    query,
    error: pages.map(({ error, data }) => (data === undefined ? error : null)).find((error) => error !== null) ?? null,
    isLoading: head.isPending,
    isOld: head.isPlaceholderData,
    again: () => {
      for (const one of pages) if (one.isError) void one.refetch();
    },
  };
}

/** The first rows of a list, and how many there are in all. */
export function useFirst<Id extends OperationId>(
  id: Id,
  query: Query<Id>,
  { limit = 5, isEnabled = true, params }: { limit?: number; isEnabled?: boolean; params?: Params<Id> } = {},
) {
  return lasting(
    useQuery<ListPage<Row<Id>>>({
      queryKey: [id, 'first', query, params, limit],
      queryFn: ({ signal }) =>
        send(id, { params: { ...params }, query: { ...query, limit }, signal }, isListed<Row<Id>>),
      enabled: isEnabled,
    }),
  );
}

async function readAll<Id extends OperationId>(id: Id, query: Query<Id>): Promise<Row<Id>[]> {
  const rows: Row<Id>[] = [];
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await send(id, { query: { ...query, limit: PAGE, page } }, isListed<Row<Id>>);
    rows.push(...data);
    if (!pagination.has_more) return rows;
  }
}

/** A complete list, for lists that are always short, such as folders. */
export function useAll<Id extends OperationId>(id: Id, query: Query<Id>, { isEnabled = true } = {}) {
  return lasting(
    useQuery<readonly Row<Id>[]>({
      queryKey: [id, 'all', query],
      queryFn: () => readAll(id, query),
      enabled: isEnabled,
    }),
  );
}

interface Sending<Id extends OperationId> {
  params?: Params<Id>;
  query?: Query<Id>;
  body?: unknown;
}

interface Change<Id extends OperationId> extends Sending<Id> {
  body?: Body<Id>;
}

/** The role may have changed since the tab was opened, so the buttons are outdated. */
const isOfRole = (error: unknown) => error instanceof CallError && error.code === 'ROLE_REQUIRED';

/**
 * A change; afterwards the queries that show it are reloaded. Until it succeeds, the same change is sent with the same
 * idempotency key, so that it is made only once. The API stores a key only with a success.
 */
function useSending<Id extends OperationId, Sent extends Sending<Id>>(id: Id, invalidates: readonly OperationId[]) {
  const cache = useQueryClient();
  const say = useSay();
  const pendingCall = useRef<{ input: string; key: string } | undefined>(undefined);
  return useMutation<Answer<Id>, Error, Sent>({
    mutationFn: (change) => {
      const input = JSON.stringify(change);
      const key = pendingCall.current?.input === input ? pendingCall.current.key : crypto.randomUUID();
      pendingCall.current = { input, key };
      const { params, query, ...rest } = change;
      const request = { ...rest, params: { ...params }, query: { ...query }, idempotencyKey: key };
      return send(id, request, createAnswerCheck(id));
    },
    onError: (error) => {
      if (!isOfRole(error)) return;
      say(error.message);
      void cache.invalidateQueries({ queryKey: ['get_session'] });
    },
    onSuccess: (_answer, change) => {
      // Another change may have been sent in the meantime.
      if (pendingCall.current?.input === JSON.stringify(change)) pendingCall.current = undefined;
      return Promise.all(invalidates.map((name) => cache.invalidateQueries({ queryKey: [name] })));
    },
  });
}

/** A change whose body is type-checked. */
export const useChange = <Id extends OperationId>(id: Id, invalidates: readonly OperationId[]) =>
  useSending<Id, Change<Id>>(id, invalidates);

/** A change whose body a form reads by the declaration; the API checks it. */
export const useSend = <Id extends OperationId>(id: Id, invalidates: readonly OperationId[]) =>
  useSending<Id, Sending<Id>>(id, invalidates);

/** Two lists of an operation as one: the rows of the first, then those of the second. */
export function joinRows<Item>(first: Rows<Item>, second: Rows<Item>): Rows<Item> {
  const size = first.total ?? 0;
  const isKnown = first.total !== undefined && second.total !== undefined;
  return {
    rows: [...first.rows, ...second.rows],
    at: (index) => (index < size ? first.at(index) : second.at(index - size)),
    read: async (from, to) => [
      ...(from < size ? await first.read(from, Math.min(to, size - 1)) : []),
      ...(to >= size ? await second.read(Math.max(from - size, 0), to - size) : []),
    ],
    see: (from, to) => {
      if (from < size) first.see(from, Math.min(to, size - 1));
      if (to >= size) second.see(Math.max(from - size, 0), to - size);
    },
    total: isKnown ? size + (second.total ?? 0) : undefined,
    query: first.query,
    error: first.error ?? second.error,
    isLoading: first.isLoading || second.isLoading,
    isOld: first.isOld || second.isOld,
    again: () => {
      first.again();
      second.again();
    },
  };
}
