import { lazy, Suspense, useState } from 'react';
import type { Row } from '../call/call.ts';
import { useAll, useCall } from '../call/use.ts';
import { Choose } from '../kit/filters.tsx';
import { day, number } from '../kit/format.ts';
import { Card, Failure, Stat, Stats } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';

const Chart = lazy(() => import('../kit/chart.tsx'));

type Use = Row<'list_usage'>;

const sumCredits = (rows: readonly Use[]) => rows.reduce((sum, { credits, refunded }) => sum + credits - refunded, 0);

interface KeyUse {
  id: string;
  name: string;
  masked: string;
  calls: number;
  credits: number;
}

/** The sums of each key, most credits first. */
function byKey(rows: readonly Use[]): KeyUse[] {
  const sums = [...Map.groupBy(rows, ({ key_id }) => key_id)].flatMap(([id, its]): KeyUse[] => {
    const [first] = its;
    if (!first) return [];
    const calls = its.reduce((sum, one) => sum + one.calls, 0);
    return [{ id, name: first.key_name, masked: first.key, calls, credits: sumCredits(its) }];
  });
  return sums.sort((one, other) => other.credits - one.credits);
}

const DAYS = 30;

/** All of the last days, so that those without a call count as well. */
const listDays = () => Array.from({ length: DAYS }, (_, i) => toUtcDay(Date.now() - (DAYS - 1 - i) * DAY_MS));

/** The balance of the period, and what each data key used in the last thirty days. */
export function KeyUsage() {
  const [chosenKeyId, setChosenKeyId] = useState('');
  const { data, error, refetch } = useCall('list_usage', { query: { limit: '1' } });
  const all = useAll('list_usage', {});
  const balance = data?.summary.balance;
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!balance) return null;
  const keys = byKey(all.data ?? []);
  const shownUsage = (all.data ?? []).filter(({ key_id }) => chosenKeyId === '' || key_id === chosenKeyId);
  const byDay = Map.groupBy(shownUsage, ({ date }) => date);
  const points = listDays().map((date) => ({ date, value: sumCredits(byDay.get(date) ?? []) }));
  return (
    <Card title="Directory credits">
      <Stats>
        <Stat label="Remaining" value={number(balance.remaining)} note={`of ${number(balance.granted)} this period`} />
        <Stat
          label="Used this period"
          value={number(balance.charged - balance.refunded)}
          note={`since ${day(balance.period_start)}`}
        />
        <Stat label="Renews on" value={day(balance.period_end)} />
      </Stats>
      {keys.length > 0 && (
        <>
          <h3>The last 30 days</h3>
          <p className="hint">{number(sumCredits(all.data ?? []))} credits, of this period and earlier ones.</p>
        </>
      )}
      {keys.length > 1 && (
        <Choose
          label="Key"
          value={chosenKeyId}
          options={[['', 'All keys'], ...keys.map(({ id, name }) => [id, name] as const)]}
          onChoose={setChosenKeyId}
        />
      )}
      {keys.length > 0 && (
        <Suspense>
          <Chart label="Credits used" points={points} show={number} zone="UTC" />
        </Suspense>
      )}
      {keys.length > 0 && (
        <PlainTable
          caption="Use of each key in the last 30 days"
          rows={keys}
          getKey={(key) => key.id}
          columns={[
            {
              head: 'Key',
              cell: ({ name, masked }) => (
                <>
                  {name}
                  <span className="second">
                    <code>{masked}</code>
                  </span>
                </>
              ),
            },
            { head: 'Charged calls', cell: ({ calls }) => number(calls), isNumber: true },
            { head: 'Credits', cell: ({ credits }) => number(credits), isNumber: true },
          ]}
        />
      )}
    </Card>
  );
}
