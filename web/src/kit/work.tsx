import type { ReactNode } from 'react';
import type { OperationId } from '../call/call.ts';
import type { Rows } from '../call/use.ts';
import { CAMPAIGN_FILTER, CREATOR_FILTER, Filters, findChoice, sortIn, stateFilter, useFilters } from './filters.tsx';
import { useDialog } from './opened.ts';
import { OperationDialog, type OperationFormProps } from './operation-form.tsx';
import { Button, Empty, PageHead } from './parts.tsx';
import { type Column, Table } from './table.tsx';

/** The order by time in words, for a list without a column that shows it. */
export const toOrderText = (sort: 'newest' | 'oldest' | undefined) =>
  sort === 'oldest' ? 'oldest first' : 'newest first';

/** The order of a list of what is due: by time, or the soonest first. */
export function useDueOrder() {
  const { get } = useFilters();
  const sort = findChoice(get('sort'), ['newest', 'oldest', 'due']) ?? 'newest';
  return { sort, column: { by: 'due', isOn: sort === 'due', isAscending: true } };
}

/** The query of a list of work with creators: the filters in the page's address. */
export function useWorkQuery<const State extends string>(states: readonly State[]) {
  const { get } = useFilters();
  return {
    status: findChoice(get('status'), states),
    creator_email: get('creator_email'),
    campaign_id: get('campaign_id'),
    sort: sortIn(get),
  };
}

interface WorkPageProps<Item extends object, Id extends OperationId> {
  title: string;
  hint: string;
  states: readonly string[];
  list: Rows<Item>;
  columns: readonly Column<Item>[];
  /** Tells what to do while the list is empty. */
  empty: string;
  /** The order in force, in words, if no head of a column shows it. */
  order?: string;
  /** The form that makes one, and the button that opens it. */
  create: OperationFormProps<Id> & { title: string; hint?: string };
  /** Beside the button that makes one. */
  actions?: ReactNode;
  /** Its other dialogs. */
  children: ReactNode;
}

/** A page that lists one kind of work with creators, by status, creator and campaign. */
export function WorkPage<Item extends object, Id extends OperationId>(props: WorkPageProps<Item, Id>) {
  const { title, hint, states, list, columns, empty, order, create, actions, children } = props;
  const making = useDialog('create');
  return (
    <>
      <PageHead title={title} hint={hint}>
        {actions}
        <Button needs={create.operation} kind="primary" onPress={making.open}>
          {create.title}
        </Button>
      </PageHead>
      <Filters of={[stateFilter(states), CREATOR_FILTER, CAMPAIGN_FILTER]} />
      <Table
        caption={title}
        noun={title.toLowerCase().replace(/s$/, '')}
        list={list}
        columns={columns}
        order={order}
        empty={<Empty title={`No ${title.toLowerCase()} yet`}>{empty}</Empty>}
      />
      <OperationDialog {...create} isOpen={making.isOpen} onClose={making.close} />
      {children}
    </>
  );
}
