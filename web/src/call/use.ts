import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type Answer,
  type Body,
  call,
  type Input,
  type OperationId,
  type Params,
  type Query,
  type Row,
  send,
} from './call.ts';

const PAGE = 100;

interface CallOptions {
  enabled?: boolean;
  refetchMs?: number;
}

/** One answer, kept while it is fresh; the input is part of its name. */
export function useCall<Id extends OperationId>(id: Id, input: Input<Id> = {}, options: CallOptions = {}) {
  return useQuery<Answer<Id>>({
    queryKey: [id, input],
    queryFn: () => call(id, input),
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
    ...(options.refetchMs === undefined ? {} : { refetchInterval: options.refetchMs }),
  });
}

interface Listed<Item> {
  data: readonly Item[];
  pagination: { total: number; has_more: boolean; page: number };
}

export interface Rows<Item> {
  rows: readonly Item[];
  total: number | undefined;
  error: Error | null;
  isLoading: boolean;
  hasMore: boolean;
  more(): void;
  again(): void;
}

/** A list that grows as it is read, a hundred rows at a time. */
export function useRows<Id extends OperationId>(id: Id, query: Query<Id>, params?: Params<Id>): Rows<Row<Id>> {
  const found = useInfiniteQuery({
    queryKey: [id, 'rows', query, params],
    initialPageParam: 1,
    queryFn: ({ pageParam }) =>
      send<Listed<Row<Id>>>(id, { params: { ...params }, query: { ...query, limit: PAGE, page: pageParam } }),
    getNextPageParam: ({ pagination }: Listed<Row<Id>>) => (pagination.has_more ? pagination.page + 1 : undefined),
    placeholderData: keepPreviousData,
  });
  const pages = found.data?.pages ?? [];
  return {
    rows: pages.flatMap(({ data }) => data),
    total: pages[0]?.pagination.total,
    error: found.error,
    isLoading: found.isPending,
    hasMore: found.hasNextPage,
    more: () => {
      if (!found.isFetchingNextPage) void found.fetchNextPage();
    },
    again: () => void found.refetch(),
  };
}

async function readAll<Id extends OperationId>(id: Id, query: Query<Id>): Promise<Row<Id>[]> {
  const rows: Row<Id>[] = [];
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await send<Listed<Row<Id>>>(id, { query: { ...query, limit: PAGE, page } });
    rows.push(...data);
    if (!pagination.has_more) return rows;
  }
}

/** The whole of a list that is short by its nature, such as folders. */
export function useAll<Id extends OperationId>(id: Id, query: Query<Id>) {
  return useQuery<readonly Row<Id>[]>({ queryKey: [id, 'all', query], queryFn: () => readAll(id, query) });
}

interface Change<Id extends OperationId> {
  params?: Params<Id>;
  body?: Body<Id>;
}

/** A change, and after it what shows it is read again. Sent twice by a bad connection, it is made once. */
export function useChange<Id extends OperationId>(id: Id, shown: readonly OperationId[]) {
  const cache = useQueryClient();
  return useMutation<Answer<Id>, Error, Change<Id>>({
    mutationFn: (input) =>
      send<Answer<Id>>(id, { ...input, params: { ...input.params }, idempotencyKey: crypto.randomUUID() }),
    onSuccess: () => Promise.all(shown.map((name) => cache.invalidateQueries({ queryKey: [name] }))),
  });
}
