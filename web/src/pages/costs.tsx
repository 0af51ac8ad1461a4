import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { useFilters } from '../kit/filters.tsx';
import { day, money, percent, today } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import type { useOpened } from '../kit/opened.ts';
import { OperationDialog, OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Card, Empty } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { useSay } from '../kit/toast.tsx';
import { CampaignName } from './item-links.tsx';

type Cost = Row<'list_costs'>;
export type CostKind = Cost['kind'];

const KINDS = listChoices('list_costs', 'kind');
const KIND_LABELS: Readonly<Record<CostKind, string>> = {
  cogs_percent: 'Goods',
  per_order: 'Each order',
  fixed: 'Fixed',
  per_item: 'Product',
};
const KIND_HINTS: Readonly<Record<CostKind, string>> = {
  cogs_percent: 'What goods cost, in percent of their sales.',
  per_order: 'What each order costs on top, such as packing and postage.',
  fixed: 'Something paid once or for a time, such as an agency. It is spread evenly over its days.',
  per_item: 'What an item of a product costs, sent to a creator or sold. For sold ones it replaces the percentage.',
};

/** These figures are read again after a cost has changed. */
const SHOWN = ['list_costs', 'get_analytics_returns'] as const;

const PREFIX = 'cost_';
/** The dialog that enters a cost of a kind, in the address. */
export const toDialogName = (kind: CostKind) => `${PREFIX}${kind}`;
const kindIn = (dialog: string | undefined) => KINDS.find((kind) => toDialogName(kind) === dialog);

const amountText = ({ kind, amount, currency }: Cost) =>
  kind === 'cogs_percent' ? percent(amount) : money(amount, currency ?? 'USD');

function getState({ from, to }: Cost): string {
  if (to !== null && to < today()) return 'ended';
  return from !== null && from > today() ? 'upcoming' : 'active';
}

function datesText({ from, to, kind }: Cost): string {
  if (from === null && to === null) return 'Always';
  if (to === null) return kind === 'fixed' ? day(from) : `From ${day(from)}`;
  return from === null ? `Until ${day(to)}` : `${day(from)} – ${day(to)}`;
}

const toDates = (kind: CostKind) =>
  [
    {
      name: 'from',
      label: 'First day',
      ...(kind === 'fixed' ? { isRequired: true } : { hint: 'Leave blank if it has always applied.' }),
    },
    {
      name: 'to',
      label: 'Last day',
      hint: kind === 'fixed' ? 'Leave blank to count all of it on the first day.' : 'Leave blank if it has no end.',
    },
    { name: 'note', kind: 'text' },
  ] as const;

const toAmount = (kind: CostKind) =>
  kind === 'cogs_percent'
    ? ({ name: 'amount', label: 'Percent of sales', unit: '%' } as const)
    : ({ name: 'amount', label: 'Amount' } as const);

const toScope = (kind: CostKind, campaign: unknown): Cost['scope'] =>
  kind === 'per_item' ? 'product' : campaign ? 'campaign' : 'brand';

const SKU = { name: 'sku', isRequired: true, hint: 'As in orders and in the products of a shipment.' } as const;

const toCampaign = (kind: CostKind) =>
  ({
    name: 'campaign_id',
    hint:
      kind === 'fixed'
        ? 'Leave blank for the whole brand.'
        : 'Leave blank for all orders. A campaign’s own cost replaces the brand’s for its orders.',
  }) as const;

function EnterCost({ kind, onClose }: { kind: CostKind | undefined; onClose: () => void }) {
  const { set } = useFilters();
  const say = useSay();
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  return (
    <Dialog title="Enter a cost" hint={kind && KIND_HINTS[kind]} isOpen={kind !== undefined} onClose={onClose}>
      {kind && (
        <>
          <Tabs
            legend="Kind of cost"
            options={KINDS}
            chosen={kind}
            toLabel={(one) => KIND_LABELS[one]}
            onChoose={(one) => set('dialog', toDialogName(one))}
          />
          <OperationForm
            operation="create_cost"
            key={kind}
            action="Enter"
            onCancel={onClose}
            start={{ currency }}
            fields={[
              kind === 'per_item' ? SKU : toCampaign(kind),
              toAmount(kind),
              ...(kind === 'cogs_percent' ? [] : [{ name: 'currency', isRequired: true } as const]),
              ...toDates(kind),
            ]}
            omits={[
              'kind',
              'scope',
              kind === 'per_item' ? 'campaign_id' : 'sku',
              ...(kind === 'cogs_percent' ? (['currency'] as const) : []),
            ]}
            fixed={({ campaign_id }) => ({ kind, scope: toScope(kind, campaign_id) })}
            shown={SHOWN}
            onDone={() => {
              say('The returns now include this cost.');
              onClose();
            }}
          />
        </>
      )}
    </Dialog>
  );
}

function EditCost({ item: cost, isOpen, onClose }: Editing<Cost>) {
  return (
    <OperationDialog
      operation="update_cost"
      title="Edit this cost"
      hint="Earlier periods change with it. To keep them, end this cost and enter another."
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: cost.id }}
      item={cost}
      fields={[toAmount(cost.kind), ...toDates(cost.kind)]}
      shown={SHOWN}
      onDone={onClose}
    />
  );
}

function Actions({ cost }: { cost: Cost }) {
  const update = useChange('update_cost', SHOWN);
  const remove = useChange('delete_cost', SHOWN);
  const costName = `${KIND_LABELS[cost.kind].toLowerCase()}, ${amountText(cost)}`;
  const canEnd = getState(cost) === 'active' && cost.kind !== 'fixed';
  return (
    <div className="row">
      <Editor item={cost} needs="update_cost">
        {(editing) => <EditCost {...editing} />}
      </Editor>
      <Menu label={`More actions for ${costName}`} needs="delete_cost">
        {canEnd && (
          <Confirm
            label="End today"
            title="End this cost?"
            action="End today"
            isDanger={false}
            onConfirm={() => update.mutateAsync({ params: { id: cost.id }, body: { to: today() } })}
          >
            <p>Today is its last day. Periods until then keep it; later orders are without it.</p>
          </Confirm>
        )}
        <Confirm
          label="Delete"
          title="Delete this cost?"
          action="Delete"
          onConfirm={() => remove.mutateAsync({ params: { id: cost.id } })}
        >
          <p>Profit of all periods is then computed without it. To keep earlier periods, end it instead.</p>
        </Confirm>
      </Menu>
    </div>
  );
}

function Scope({ of: { scope, campaign_id, sku } }: { of: Cost }) {
  if (scope === 'campaign') return <CampaignName id={campaign_id} />;
  return scope === 'product' ? <code>{sku}</code> : 'The whole brand';
}

const COLUMNS: readonly Column<Cost>[] = [
  {
    head: 'Cost',
    cell: ({ kind, note }) => (
      <>
        {KIND_LABELS[kind]}
        {note && <span className="second">{note}</span>}
      </>
    ),
  },
  { head: 'Applies to', cell: (cost) => <Scope of={cost} />, isWide: true },
  { head: 'Amount', cell: amountText, isNumber: true },
  { head: 'Period', cell: datesText, chip: 'value' },
  { head: 'Status', cell: (cost) => <Badge state={getState(cost)} />, chip: 'value' },
  { head: 'Actions', needs: 'update_cost', cell: (cost) => <Actions cost={cost} /> },
];

/** The costs that returns are computed from. */
export function Costs({ dialog }: { dialog: ReturnType<typeof useOpened> }) {
  const list = useRows('list_costs', {});
  const kind = kindIn(dialog.id);
  return (
    <Card title="Costs">
      <p className="hint">
        Costs that your store does not report. Costs of the same type add up. A campaign’s own costs replace the brand’s
        for its orders.
      </p>
      <Table
        caption="Costs"
        noun="cost"
        list={list}
        columns={COLUMNS}
        empty={
          <Empty title="No costs entered">
            <div className="stack">
              <p>Without them, profit stays unknown: nothing is assumed.</p>
              <Button needs="create_cost" onPress={() => dialog.open(toDialogName('cogs_percent'))}>
                Enter what goods cost
              </Button>
            </div>
          </Empty>
        }
      />
      <EnterCost kind={kind} onClose={dialog.close} />
    </Card>
  );
}
