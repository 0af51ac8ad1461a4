import type { Query } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useChange, useFirst, useSend } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Form, Labelled, type OwnInputs, type Values } from '../kit/form.tsx';
import { time } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Button, Card, Empty, Failure, Loading } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';
import { BudgetBars, type Budgets } from './budget-bars.tsx';
import type { Terms } from './terms-draft.ts';
import { plainTerms, useDeal, useTermsInputs } from './terms-editor.tsx';
import type { SimulatedPlace } from './terms-past.tsx';

const PLACES = {
  link: {
    operation: 'update_affiliate_link',
    shown: ['list_affiliate_links', 'get_affiliate_link', 'list_terms'],
    without: 'The terms of its creator’s group, its campaign or the brand apply instead.',
  },
  group: {
    operation: 'update_group',
    shown: ['list_groups', 'get_group', 'list_terms', 'list_affiliate_links', 'get_affiliate_link'],
    without: 'The terms of the campaign or the brand apply to its creators instead.',
  },
  campaign: {
    operation: 'update_campaign',
    shown: ['get_campaign', 'list_terms', 'list_affiliate_links', 'get_affiliate_link'],
    without: 'The brand’s terms apply to its links and codes instead.',
  },
  brand: {
    operation: 'update_attribution_rules',
    shown: ['get_attribution_rules', 'list_terms', 'list_affiliate_links', 'get_affiliate_link'],
    without: 'The default commission of the settings applies instead.',
  },
} as const;

/** The hint of settings that later links and codes take over. */
export const NEW_ONLY = 'Applies to new links and codes only.';

/** The settings of a group that its deal includes. */
const GROUP_SETTINGS = [
  { name: 'hold_days', label: 'Review period, in days' },
  { name: 'attribution_days', label: 'Attribution window, in days' },
] as const;

/** Something that can have terms of its own. */
export interface TermsPlace {
  place: keyof typeof PLACES;
  /** Null for the brand. */
  id: string | null;
  name: string;
  /** Its own. */
  terms: Terms | null;
  /** Those in effect, where they may be another place’s. */
  inEffect?: { terms: Terms; source: keyof typeof PLACES; summary: string };
  budget: Budgets;
  /** A group's. */
  hold_days?: number | null;
  attribution_days?: number | null;
}

const SOURCES: Readonly<Record<keyof typeof PLACES, string>> = {
  link: 'They are its own.',
  group: 'They are those of its creator’s group.',
  campaign: 'They are those of its campaign.',
  brand: 'They are the brand’s.',
};

function toQuery({ place, id }: TermsPlace): Query<'list_terms'> {
  return id === null ? {} : { [`${place}_id`]: id };
}

function toSimulatedPlace({ place, id }: TermsPlace): SimulatedPlace {
  if (id === null || place === 'brand') return undefined;
  if (place === 'link') return { link_id: id };
  return place === 'group' ? { group_id: id } : { campaign_id: id };
}

const SHOWN = 10;

/** The versions of a place, each with its sentence. */
function Versions({ of }: { of: TermsPlace }) {
  const { data, error, refetch } = useFirst('list_terms', toQuery(of), { limit: SHOWN });
  return (
    <Card title="Versions">
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading rows={2} />}
      {data?.data.length === 0 && <Empty title="No terms of its own yet" />}
      <ul className="plain">
        {data?.data.map(({ id, summary, by, created_at, replaced_at }) => (
          <li key={id}>
            {summary}
            <div className="second muted">
              {[`Since ${time(created_at)}`, by && `by ${by}`, replaced_at && `until ${time(replaced_at)}`]
                .filter(Boolean)
                .join(', ')}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Drop({ of: { place, id, name }, onDone }: { of: TermsPlace; onDone: () => void }) {
  const { operation, shown, without } = PLACES[place];
  const change = useChange(operation, shown);
  return (
    <Confirm
      needs={operation}
      label="Drop these terms"
      title={`Drop the terms of ${name}?`}
      action="Drop them"
      onConfirm={async () => {
        await change.mutateAsync({ ...(id === null ? {} : { params: { id } }), body: { terms: null } });
        onDone();
      }}
    >
      <p>{without} Decided orders keep the terms that they were decided by.</p>
    </Confirm>
  );
}

interface EditingProps {
  of: TermsPlace;
  onClose: () => void;
}

/** A group may do without terms of its own, and its deal has more than them. */
function EditDeal(props: EditingProps) {
  const { of } = props;
  const own = useDeal(of.terms, { of: toSimulatedPlace(of) });
  return <TermsForm {...props} own={own} settings={GROUP_SETTINGS} />;
}

function EditTerms(props: EditingProps) {
  const { of } = props;
  const own = useTermsInputs(of.terms ?? of.inEffect?.terms ?? plainTerms(10), { of: toSimulatedPlace(of) });
  return <TermsForm {...props} own={own} settings={[]} />;
}

interface TermsFormProps extends EditingProps {
  own: OwnInputs;
  settings: typeof GROUP_SETTINGS | readonly [];
}

function TermsForm({ of, onClose, own, settings }: TermsFormProps) {
  const { place, id } = of;
  const { operation, shown } = PLACES[place];
  const say = useSay();
  const change = useSend(operation, shown);
  async function save(values: Values) {
    const notify = values.text('notify') === '' ? {} : { notify: true };
    const days = Object.fromEntries(
      settings.map(({ name }) => [name, values.text(name) === '' ? null : Number(values.text(name))]),
    );
    const body = { terms: own.read(), ...days, ...notify };
    await change.mutateAsync({ ...(id === null ? {} : { params: { id } }), body });
    onClose();
    say('Saved. Later orders are decided by these terms.');
  }
  return (
    <Form
      fields={settings.map(({ name, label }, i) => ({
        name,
        label,
        kind: 'number',
        min: 0,
        step: '1',
        value: of[name] ?? null,
        isBeside: i > 0,
        hint: NEW_ONLY,
      }))}
      own={own}
      action="Save"
      onCancel={onClose}
      onSubmit={save}
    >
      <Labelled label="Email the affected creators what they earned and what they earn now" isRequired isBox>
        {({ id: input }) => <input id={input} type="checkbox" name="notify" />}
      </Labelled>
    </Form>
  );
}

function Panel({ of, onClose }: { of: TermsPlace; onClose: () => void }) {
  const mayEdit = useMay()(PLACES[of.place].operation);
  const { inEffect } = of;
  return (
    <div className="beside">
      {mayEdit &&
        (of.place === 'group' ? <EditDeal of={of} onClose={onClose} /> : <EditTerms of={of} onClose={onClose} />)}
      <div className="stack stays">
        {inEffect && (
          <Card title="In effect">
            <p>{inEffect.summary}</p>
            <p className="hint">{SOURCES[inEffect.source]}</p>
          </Card>
        )}
        {of.budget.length > 0 && (
          <Card title="Budget">
            <BudgetBars of={of.budget} />
          </Card>
        )}
        <Versions of={of} />
        {of.terms !== null && <Drop of={of} onDone={onClose} />}
      </div>
    </div>
  );
}

/** A button that opens the terms of a link or code, a group, a campaign or the brand. */
export function TermsButton({ of, text = 'Terms' }: { of: TermsPlace; text?: string }) {
  const { id, open, close } = useOpened('edit');
  const key = `terms-${of.id ?? 'brand'}`;
  const title = `Terms of ${of.name}`;
  const isOpen = id === key;
  return (
    <>
      <Button onPress={() => open(key)} label={text === 'Terms' ? title : `${text}: ${title}`}>
        {text}
      </Button>
      <Dialog
        title={title}
        hint="What later orders pay. Decided orders keep the terms that they were decided by."
        isOpen={isOpen}
        onClose={close}
        isSide
        isBroad
      >
        {isOpen && <Panel of={of} onClose={close} />}
      </Dialog>
    </>
  );
}
