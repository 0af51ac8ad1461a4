import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useSend } from '../call/use.ts';
import { minorMoney, number } from '../kit/format.ts';
import { FollowedJob } from '../kit/job.tsx';
import { Button, Failure } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { isSimulated, type Simulated } from './simulated.ts';
import { type Draft, readDraft } from './terms-draft.ts';

const DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Where the terms would stand; nothing for the brand. */
export type SimulatedPlace = { link_id: string } | { group_id: string } | { campaign_id: string } | undefined;

function Past({ of: { data, meta } }: { of: Simulated }) {
  if (data.totals.length === 0) return <p>No creator has earned an order in this time.</p>;
  return (
    <>
      <p>
        {number(meta.changed)} of {number(meta.orders)} paid orders would have paid something else.
        {meta.without_lines > 0 && ` Of ${number(meta.without_lines)} the products are not known.`}
        {meta.without_categories > 0 && ` Of ${number(meta.without_categories)} the categories are not known.`}
      </p>
      <PlainTable
        caption={`All orders of the last ${DAYS} days`}
        rows={data.totals}
        getKey={({ currency }) => currency}
        columns={[
          { head: 'Currency', cell: ({ currency }) => currency },
          {
            head: 'Paid',
            isNumber: true,
            cell: ({ currency, commission_now_minor }) => minorMoney(commission_now_minor, currency),
          },
          {
            head: 'With these terms',
            isNumber: true,
            cell: ({ currency, commission_simulated_minor }) => minorMoney(commission_simulated_minor, currency),
          },
        ]}
      />
    </>
  );
}

/** Says what the last 90 days would have paid under terms that are not saved yet. It reads every order, so it waits to be asked. */
export function TermsPast({ draft, of }: { draft: Draft; of: SimulatedPlace }) {
  const may = useMay();
  const simulation = useSend('simulate_rules', []);
  const [lastSimulation, setLastSimulation] = useState<{ terms: string; answer: Answer<'simulate_rules'> }>();
  const [error, setError] = useState<Error>();
  const terms = JSON.stringify(readDraft(draft));
  if (!may('simulate_rules')) return null;
  async function simulate() {
    const from = new Date(Date.now() - DAYS * DAY_MS).toISOString();
    setError(undefined);
    try {
      const body = { from, rules: { terms: readDraft(draft) }, ...(of ? { of } : {}) };
      setLastSimulation({ terms, answer: await simulation.mutateAsync({ body }) });
    } catch (problem) {
      setLastSimulation(undefined);
      setError(problem instanceof Error ? problem : new Error('It could not be simulated.'));
    }
  }
  const answer = lastSimulation?.terms === terms ? lastSimulation.answer : undefined;
  return (
    <section className="stack" aria-label={`The last ${DAYS} days`} aria-live="polite">
      {!answer && (
        <Button onPress={() => void simulate()} isBusy={simulation.isPending}>
          {`What would the last ${DAYS} days have paid?`}
        </Button>
      )}
      {error && <Failure error={error} again={() => void simulate()} />}
      {answer && 'meta' in answer && <Past of={answer} />}
      {answer && !('meta' in answer) && (
        <FollowedJob
          id={answer.data.id}
          noun="simulation"
          done={({ result }) => (isSimulated(result) ? <Past of={result} /> : null)}
        />
      )}
    </section>
  );
}
