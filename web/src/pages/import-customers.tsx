import { useState } from 'react';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Form, type Values } from '../kit/form.tsx';
import { number } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Button } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';
import { readCustomerLines } from './customer-lines.ts';

/** As many as one call takes. */
const AT_ONCE = 500;

/** Adds the customers of another tool's list to a creator, whose later orders then earn. */
export function ImportCustomers() {
  const panel = useOpened('edit');
  const say = useSay();
  const stores = useCall('list_affiliate_stores', { query: { limit: 100 } });
  const add = useChange('create_customers', ['list_customers', 'get_customer', 'list_orders']);
  const [refusals, setRefusals] = useState<readonly string[]>([]);
  const close = () => {
    setRefusals([]);
    panel.close();
  };
  async function send(values: Values): Promise<void> {
    const [store, since] = [values.some('integration_id'), values.some('since')];
    const common = { link_id: values.text('link_id'), reason: values.text('reason'), ...(since ? { since } : {}) };
    const lines = readCustomerLines(values.text('customers')).map((line) => {
      const isOpen = line.subscription !== undefined && store === undefined;
      return { ...line, problem: line.problem ?? (isOpen ? 'Choose the store of the subscription.' : undefined) };
    });
    const refusedLines = lines.flatMap(({ number: at, problem }) => (problem ? [`Line ${at}: ${problem}`] : []));
    const readable = lines.filter(({ problem }) => problem === undefined);
    const counts = { created: 0, known: 0 };
    for (let first = 0; first < readable.length; first += AT_ONCE) {
      const part = readable.slice(first, first + AT_ONCE);
      const customers = part.map(({ email, subscription }) => ({
        ...common,
        ...(email === undefined ? {} : { customer_email: email }),
        ...(subscription === undefined || store === undefined
          ? {}
          : { subscription_id: subscription, integration_id: store }),
      }));
      const { data } = await add.mutateAsync({ body: { customers, import: true } });
      counts.created += data.created;
      counts.known += data.known;
      for (const [place, { message }] of data.customers.entries()) {
        if (message !== null) refusedLines.push(`Line ${part[place]?.number}: ${message}`);
      }
    }
    const knownText = counts.known > 0 ? `; ${number(counts.known)} belonged to a creator already` : '';
    say(`${number(counts.created)} added${knownText}.`);
    if (refusedLines.length === 0) close();
    else setRefusals(refusedLines);
  }
  return (
    <>
      <Button needs="create_customers" onPress={() => panel.open('import')}>
        Import customers
      </Button>
      <Dialog
        title="Import customers"
        hint="Customers a creator brought before, as listed by another tool. Their later orders earn for the link or code."
        isOpen={panel.id === 'import'}
        onClose={close}
      >
        <Form
          needs="create_customers"
          action="Import"
          onSubmit={send}
          onCancel={close}
          fields={[
            { name: 'link_id', label: 'Link or code', kind: 'link', isRequired: true },
            {
              name: 'customers',
              label: 'Customers',
              kind: 'textarea',
              isRequired: true,
              hint: 'One per line: an email address, the id of a subscription, or both with a comma between them.',
            },
            {
              name: 'integration_id',
              label: 'Store of the subscriptions',
              kind: 'select',
              options: [['', 'Not specified'], ...(stores.data?.data ?? []).map(({ id, name }) => [id, name] as const)],
            },
            { name: 'since', label: 'Since', kind: 'date', hint: 'At most 13 months ago. Leave empty to start now.' },
            { name: 'reason', label: 'Reason', isRequired: true, value: 'From the list of another tool' },
          ]}
        >
          {refusals.length > 0 && (
            <ul className="problem summary" aria-label="Lines that were refused">
              {refusals.map((refusal) => (
                <li key={refusal}>{refusal}</li>
              ))}
            </ul>
          )}
        </Form>
      </Dialog>
    </>
  );
}
