import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useFirst } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { aboutPercent, day, number, time } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Card, Empty, Failure, Loading } from '../kit/parts.tsx';
import { type Column, PlainTable } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';

type Leak = Row<'list_code_leaks'>;

const LEAST = 20;
const SHOWN = 10;

interface Rotated {
  id: string;
  value: string;
}

/** Replaces a code with a button that is next to it. */
export function RotateCode({ of: { id, value }, label }: { of: Rotated; label?: string }) {
  const [isOpen, setOpen] = useState(false);
  const say = useSay();
  const close = () => setOpen(false);
  return (
    <>
      <Button
        needs="rotate_affiliate_link"
        onPress={() => setOpen(true)}
        label={`${label ?? 'Replace the code'} ${value}`}
      >
        {label ?? 'Replace the code'}
      </Button>
      <OperationDialog
        operation="rotate_affiliate_link"
        title={`Replace ${value}`}
        hint="The old code pays until the date you choose."
        isOpen={isOpen}
        onClose={close}
        action="Replace the code"
        params={{ id }}
        fields={[
          { name: 'value', label: 'New code', hint: 'Empty: a readable one is made. Add it to your store.' },
          {
            name: 'old_pays_until',
            label: 'The old code pays until',
            hint: 'By default for 14 days.',
            isLastDay: true,
          },
          {
            name: 'notify',
            label: 'Email the new code right away',
            hint: 'Otherwise when your store or an order has it.',
          },
        ]}
        shown={['list_affiliate_links', 'get_affiliate_link', 'list_code_leaks']}
        onDone={({ data }) => {
          close();
          say(`The new code is ${data.value}. ${data.old_code} pays until ${time(data.old_pays_until)}.`);
        }}
      />
    </>
  );
}

const COLUMNS: readonly Column<Leak>[] = [
  {
    head: 'Code',
    cell: ({ value, creator_name, creator_email, reasons }) => (
      <>
        {value}, {creator_name ?? creator_email}
        {reasons.map((reason) => (
          <span className="second sentence" key={reason}>
            {reason.replace(/\d{4}-\d\d-\d\d/g, (date) => day(date))}
          </span>
        ))}
      </>
    ),
  },
  { head: 'Score', cell: ({ score }) => number(score), isNumber: true },
  { head: 'Orders', cell: ({ orders }) => number(orders), isNumber: true, isWide: true },
  { head: 'Without a click', cell: ({ without_click }) => aboutPercent(without_click), isNumber: true, isWide: true },
  { head: 'New customers', cell: ({ new_customers }) => aboutPercent(new_customers), isNumber: true, isWide: true },
  {
    head: 'Actions',
    needs: 'rotate_affiliate_link',
    cell: ({ link_id, value }) => <RotateCode of={{ id: link_id, value }} label="Replace" />,
  },
];

/** Codes of the last 30 days that are probably public. */
export function LeakedCodes() {
  const query = { min_score: LEAST };
  const { data, error, refetch } = useFirst('list_code_leaks', query, { limit: SHOWN });
  return (
    <Card
      title="Codes that may have leaked"
      action={<Download id="list_code_leaks" query={query} name="leaks.csv" label="Download scores" />}
    >
      <p className="hint">
        Compares the last 30 days with the eight weeks before. From a score of 50 on, a code is probably public.
      </p>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading rows={2} />}
      {data?.data.length === 0 && <Empty title="No code looks leaked" />}
      {data && data.data.length > 0 && (
        <PlainTable
          caption="Codes that may have leaked"
          rows={data.data}
          getKey={({ link_id }) => link_id}
          columns={COLUMNS}
        />
      )}
    </Card>
  );
}
