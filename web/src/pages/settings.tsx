import { startRegistration } from '@simplewebauthn/browser';
import { useState } from 'react';
import { call, type Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { Face } from '../kit/face.tsx';
import { Form, FormDialog } from '../kit/form.tsx';
import { day, ownZone, words } from '../kit/format.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Card, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, PlainTable } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { TABS, type Tab, useTab } from '../settings-list.tsx';
import { signOut } from '../signed-out.ts';
import { AttributionCard, WhatIfCard } from './attribution-rules.tsx';
import { DirectoryImports } from './directory-imports.tsx';
import { FraudRulesCard } from './fraud-rules.tsx';

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** The time zones that this browser knows, and the brand's own. */
const zones = (own: string) =>
  [...new Set(['UTC', own, ...Intl.supportedValuesOf('timeZone')])]
    .sort()
    .map((zone) => [zone, zone.replaceAll('_', ' ')] as const);

const BRAND_SHOWN = ['get_brand', 'get_session'] as const;

/** Changes or removes the brand's picture, of which the form beside it shows nothing: its address may be long. */
function Logo({ of: logo }: { of: string | null }) {
  const update = useChange('update_brand', BRAND_SHOWN);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button needs="update_brand" onPress={() => setOpen(true)}>
        {logo === null ? 'Add a logo' : 'Change logo'}
      </Button>
      {logo !== null && (
        <Confirm
          needs="update_brand"
          label="Remove"
          title="Remove the logo?"
          action="Remove"
          onConfirm={() => update.mutateAsync({ body: { logo: null } })}
        >
          <p>Creators no longer see it on your pages.</p>
        </Confirm>
      )}
      <FormDialog
        title="Logo"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Save"
        fields={[
          {
            name: 'logo',
            label: 'Address of the picture',
            kind: 'url',
            isRequired: true,
            hint: 'Beginning with https. Creators see the picture on your pages.',
          },
        ]}
        onSubmit={async (values) => {
          await update.mutateAsync({ body: { logo: values.text('logo') } });
          setOpen(false);
        }}
      />
    </>
  );
}

/** Creators whose link or code has no rate of its own would earn nothing without anybody noticing. */
const warnOfZero = (valueAt: (path: string) => string) =>
  Number(valueAt('settings.default_commission_rate')) === 0
    ? { hint: <span className="warned">At 0, links and codes without a rate of their own pay nothing.</span> }
    : {};

function BrandForm() {
  const { data, error, refetch } = useCall('get_brand');
  const say = useSay();
  const brand = data?.data;
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!brand) return <Loading rows={14} />;
  return (
    <>
      <div className="row">
        <Face name={brand.name} url={brand.logo} isLarge />
        <Logo of={brand.logo} />
      </div>
      <OperationForm
        operation="update_brand"
        key={brand.updated_at ?? 'new'}
        action="Save"
        item={brand}
        fields={[
          { name: 'name', heading: 'Profile' },
          'website',
          'contact_name',
          {
            name: 'contact_email',
            label: 'Contact email',
            hint: 'Receives notices, such as when a webhook fails.',
          },
          'description',
          { name: 'settings.currency', heading: 'Money', hint: 'Used for new orders, limits and totals.' },
          {
            name: 'settings.time_zone',
            options: zones(brand.settings.time_zone),
            hint: `Used for all dates and times in the app. This computer is in ${ownZone}.`,
          },
          {
            name: 'settings.default_commission_rate',
            label: 'Default commission, in percent',
            hint: 'For links and codes without a rate of their own.',
            follows: warnOfZero,
          },
          {
            name: 'settings.auto_approve_commissions',
            label: 'Approve commissions automatically when nothing blocks them',
          },
          {
            name: 'settings.require_payment_profile',
            label: 'Only pay creators who have set a payment address',
          },
          {
            name: 'settings.bookkeeping_years',
            heading: 'Records',
            label: 'Keep records for, in years',
            hint: 'After the erasure of a creator whom you paid, their name, address and contracts stay sealed for this long. 0 keeps nothing.',
          },
        ]}
        omits={['logo']}
        shown={BRAND_SHOWN}
        onDone={() => say('Saved.')}
      />
    </>
  );
}

function Passkeys() {
  const list = useRows('list_passkeys', {});
  const keep = useChange('create_passkey', ['list_passkeys']);
  const remove = useChange('remove_passkey', ['list_passkeys']);
  async function add(name: string) {
    const { origin } = location;
    const { data } = await call('begin_passkey', { body: { origin } });
    const optionsJSON: RegistrationOptions = JSON.parse(JSON.stringify(data.options));
    const { id, rawId, type, response, authenticatorAttachment } = await startRegistration({ optionsJSON });
    const { transports, clientDataJSON, attestationObject } = response;
    await keep.mutateAsync({
      body: {
        name,
        origin,
        challenge_id: data.challenge_id,
        response: {
          id,
          rawId,
          type,
          clientExtensionResults: {},
          ...(authenticatorAttachment ? { authenticatorAttachment } : {}),
          response: {
            clientDataJSON,
            attestationObject,
            transports: TRANSPORTS.filter((one) => transports?.includes(one)),
          },
        },
      },
    });
  }
  return (
    <Card title="Passkeys" id="passkeys">
      <p className="hint">Sign in with your fingerprint, face or security key instead of a link.</p>
      {list.error && <Failure error={list.error} again={list.again} />}
      {list.rows.length > 0 && (
        <PlainTable
          caption="Your passkeys"
          rows={list.rows}
          getKey={({ id }) => id}
          columns={[
            { head: 'Name', cell: ({ name }) => name },
            { head: 'Last used', cell: ({ last_used_at }) => <Ago at={last_used_at} />, isWide: true },
            {
              head: 'Actions',
              cell: ({ id, name }) => (
                <Confirm
                  label="Remove"
                  title={`Remove ${name}?`}
                  action="Remove"
                  onConfirm={() => remove.mutateAsync({ params: { id } })}
                >
                  <p>You can no longer sign in with it.</p>
                </Confirm>
              ),
            },
          ]}
        />
      )}
      <Form
        action="Add a passkey"
        isEmptied
        fields={[{ name: 'name', label: 'Passkey name', isRequired: true, hint: 'For example, “my laptop”.' }]}
        onSubmit={(values) => add(values.text('name'))}
      />
    </Card>
  );
}

function Sessions() {
  const list = useRows('list_sessions', {});
  const end = useChange('end_session', ['list_sessions']);
  const actions: Column<Row<'list_sessions'>> = {
    head: 'Actions',
    cell: ({ id, device, is_current }) =>
      !is_current && (
        <Confirm
          label="Sign out"
          title={`Sign out ${device}?`}
          action="Sign out"
          onConfirm={() => end.mutateAsync({ params: { id } })}
        >
          <p>The session ends within a second.</p>
        </Confirm>
      ),
  };
  if (list.error) return <Failure error={list.error} again={list.again} />;
  if (list.isLoading) return <Loading rows={2} />;
  return (
    <PlainTable
      caption="Active sessions"
      rows={list.rows}
      getKey={({ id }) => id}
      columns={[
        {
          head: 'Browser',
          cell: ({ device, is_current, last_used_at, expires_at }) => (
            <>
              {is_current ? `${device} (this one)` : device}
              <span className="second">
                Last used <Ago at={last_used_at} />, expires {day(expires_at)}
              </span>
            </>
          ),
        },
        ...(list.rows.some(({ is_current }) => !is_current) ? [actions] : []),
      ]}
    />
  );
}

function SignOutEverywhere() {
  const end = useChange('end_sessions', []);
  return (
    <Confirm
      label="Sign out everywhere"
      title="Sign out everywhere?"
      action="Sign out everywhere"
      onConfirm={async () => {
        await end.mutateAsync({});
        await signOut();
      }}
    >
      <p>Every browser you are signed in with is signed out, including this one. API keys keep working.</p>
    </Confirm>
  );
}

function OwnMails() {
  const { data, error, refetch } = useCall('get_session');
  const say = useSay();
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  const { mails } = data.data;
  return (
    <OperationForm
      operation="set_own_mails"
      key={JSON.stringify(mails)}
      action="Save"
      item={mails}
      fields={[
        { name: 'applications', label: 'A creator applies' },
        { name: 'replies', label: 'A creator replies' },
        { name: 'contracts', label: 'A creator signs a contract' },
      ]}
      shown={['get_session']}
      onDone={() => say('Saved.')}
    />
  );
}

/** The sentence below the title of a part; the brand's has its plan. */
const HINTS: Partial<Record<Tab, string>> = {
  attribution: 'Who is paid for an order, when several codes or links could be.',
  fraud: 'What happens to the commission of a suspicious order. Existing commissions keep their flags.',
  'what-if': 'Try other rules on your paid orders. Nothing changes, and what you leave empty stays as it was.',
  mails: 'The emails that you get. Everybody chooses their own.',
  'signing-in': 'How you sign in, and where you are signed in now.',
  imports: 'The last updates of the creator directory.',
};

function TabContent({ of, email }: { of: Tab; email: string | undefined }) {
  if (of === 'attribution') return <AttributionCard />;
  if (of === 'fraud') return <FraudRulesCard />;
  if (of === 'what-if') return <WhatIfCard />;
  if (of === 'imports') return <DirectoryImports />;
  if (of === 'mails') {
    return (
      <Card>
        <p className="hint">To {email ?? 'you'}, when</p>
        <OwnMails />
      </Card>
    );
  }
  if (of === 'signing-in') {
    return (
      <>
        <Passkeys />
        <Card title="Active sessions" id="sessions" action={<SignOutEverywhere />}>
          <Sessions />
        </Card>
      </>
    );
  }
  return (
    <Card>
      <BrandForm />
    </Card>
  );
}

/** The parts of the brand's settings, of which the list of the section shows one. */
export function Settings() {
  const brand = useCall('get_brand').data?.data;
  const session = useCall('get_session').data?.data;
  const tab = useTab();
  const plan = brand && (
    <>
      {words(brand.plan)} plan <Badge state={brand.subscription_status} />
    </>
  );
  return (
    <>
      <PageHead title={TABS[tab]} hint={HINTS[tab] ?? plan ?? '\u00a0'} />
      <div className="stack wide-forms settings">
        <TabContent of={tab} email={session?.person.email} />
      </div>
    </>
  );
}
