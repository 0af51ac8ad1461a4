import type { Query } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useChange, useFirst, useSend } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Form, Labelled, type Values } from '../kit/form.tsx';
import { time } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Button, Card, Empty, Failure, Loading } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';
import { BudgetBars, type Budgets } from './budget-bars.tsx';
import type { Terms } from './terms-draft.ts';
import { plainTerms, useTermsInputs } from './terms-editor.tsx';
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

function Editing({ of, onClose }: { of: TermsPlace; onClose: () => void }) {
  const { place, id, terms, inEffect } = of;
  const { operation, shown } = PLACES[place];
  const say = useSay();
  const change = useSend(operation, shown);
  const own = useTermsInputs(terms ?? inEffect?.terms ?? plainTerms(10), { of: toSimulatedPlace(of) });
  async function save(values: Values) {
    const notify = values.text('notify') === '' ? {} : { notify: true };
    await change.mutateAsync({ ...(id === null ? {} : { params: { id } }), body: { terms: own.read(), ...notify } });
    onClose();
    say('Saved. Later orders are decided by these terms.');
  }
  return (
    <Form fields={[]} own={own} action="Save" onCancel={onClose} onSubmit={save}>
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
      {mayEdit && <Editing of={of} onClose={onClose} />}
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
export function TermsButton({ of }: { of: TermsPlace }) {
  const { id, open, close } = useOpened('edit');
  const key = `terms-${of.id ?? 'brand'}`;
  const isOpen = id === key;
  return (
    <>
      <Button onPress={() => open(key)} label={`Terms of ${of.name}`}>
        Terms
      </Button>
      <Dialog
        title={`Terms of ${of.name}`}
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
