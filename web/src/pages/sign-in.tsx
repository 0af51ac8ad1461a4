import { startAuthentication } from '@simplewebauthn/browser';
import { useState, useSyncExternalStore } from 'react';
import { callApp, otherAnswer } from '../call/call.ts';
import { isRecord } from '../call/check.ts';
import icon from '../icon.svg';
import { Form } from '../kit/form.tsx';
import { Button } from '../kit/parts.tsx';
import { goBack, hadSession } from '../signed-out.ts';

type AuthenticationOptions = Parameters<typeof startAuthentication>[0]['optionsJSON'];

const isOptions = (options: unknown): options is AuthenticationOptions =>
  isRecord(options) && typeof options.challenge === 'string';

async function withLink(token: string): Promise<void> {
  await callApp('POST', 'session', { token });
}

async function withPasskey(): Promise<void> {
  const { challenge_id, options } = await callApp('POST', 'session/passkey/challenge', {});
  if (!isOptions(options)) throw otherAnswer();
  const response = await startAuthentication({ optionsJSON: options });
  await callApp('POST', 'session/passkey', { challenge_id, response });
}

/** The answer is the same whether or not an account has the address. */
function MailForm() {
  const [isSent, setSent] = useState(false);
  if (isSent) {
    return <p className="note-box">If an account exists for this address, a sign-in link is on its way.</p>;
  }
  return (
    <Form
      action="Email me a link"
      fields={[{ name: 'email', label: 'Email', kind: 'email', isRequired: true }]}
      onSubmit={async (values) => {
        await callApp('POST', 'session/mail', { email: values.text('email') });
        setSent(true);
      }}
    />
  );
}

function onHashChange(act: () => void) {
  window.addEventListener('hashchange', act);
  return () => window.removeEventListener('hashchange', act);
}

/**
 * Opening a sign-in link in a tab that already shows this page only changes the URL's fragment, so the page follows it.
 */
export function SignIn() {
  const token = useSyncExternalStore(onHashChange, () => location.hash.slice(1));
  return <SignInWith key={token} token={token} />;
}

/** A link's token comes after the `#`, and only the button uses it, so that mail scanners that open links do not. */
function SignInWith({ token }: { token: string }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  async function signIn(how: () => Promise<void>) {
    setBusy(true);
    setProblem(undefined);
    try {
      await how();
      goBack();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'Something went wrong. Try again.');
      setBusy(false);
    }
  }
  return (
    <main className="alone">
      <div className="card sign-in">
        <img src={icon} alt="" width={40} height={40} />
        <h1>Sign in to Rollcall</h1>
        {hadSession() && !token && (
          <p className="note-box">Your session has ended. Sign in to continue where you left off.</p>
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
        <p className="or">or</p>
        <Button isBusy={isBusy} onPress={() => void signIn(withPasskey)}>
          Sign in with a passkey
        </Button>
        <p className="hint small">New here? An owner of the brand can invite you.</p>
      </div>
    </main>
  );
}
