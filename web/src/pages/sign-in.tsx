import { startAuthentication } from '@simplewebauthn/browser';
import { useState } from 'react';
import { callApp, otherAnswer } from '../call/call.ts';
import { isRecord } from '../call/check.ts';
import { Form } from '../kit/form.tsx';
import { Button } from '../kit/parts.tsx';
import { goBack, wayBack } from '../signed-out.ts';

type Options = Parameters<typeof startAuthentication>[0]['optionsJSON'];

const isOptions = (options: unknown): options is Options => isRecord(options) && typeof options.challenge === 'string';

async function withLink(token: string): Promise<void> {
  await callApp('POST', 'session', { token });
}

async function withPasskey(): Promise<void> {
  const { challenge_id, options } = await callApp('POST', 'session/passkey/challenge', {});
  if (!isOptions(options)) throw otherAnswer();
  const response = await startAuthentication({ optionsJSON: options });
  await callApp('POST', 'session/passkey', { challenge_id, response });
}

/** The answer is the same whether somebody has the address or not. */
function MailForm() {
  const [isSent, setSent] = useState(false);
  if (isSent) {
    return <p className="note-box">If this address belongs to one of a brand’s people, a link is on its way to it.</p>;
  }
  return (
    <Form
      action="Mail me a link"
      fields={[{ name: 'email', label: 'E-mail', kind: 'email', isRequired: true }]}
      onSubmit={async (values) => {
        await callApp('POST', 'session/mail', { email: values.text('email') });
        setSent(true);
      }}
    />
  );
}

/** A link's token stands behind the `#`: it is used when the button is pressed, and by nothing that only looks. */
export function SignIn() {
  const [token] = useState(() => location.hash.slice(1));
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  async function signIn(how: () => Promise<void>) {
    setBusy(true);
    setProblem(undefined);
    try {
      await how();
      goBack();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'It did not work.');
      setBusy(false);
    }
  }
  return (
    <main className="alone">
      <div className="card">
        <h1>Sign in to Rollcall</h1>
        {wayBack() !== null && !token && (
          <p className="note-box">Your session has ended. Sign in, and you are back where you were.</p>
        )}
        {problem && (
          <p className="problem summary" role="alert">
            {problem}
          </p>
        )}
        {token ? (
          <>
            <p className="hint">Your link works once. Press the button to use it.</p>
            <Button kind="primary" isBusy={isBusy} onPress={() => void signIn(() => withLink(token))}>
              Sign in
            </Button>
          </>
        ) : (
          <MailForm />
        )}
        <p>
          <Button isBusy={isBusy} onPress={() => void signIn(withPasskey)}>
            Sign in with a passkey
          </Button>
        </p>
      </div>
    </main>
  );
}
