import { z } from 'zod';
import { requirePerson } from '../../../kit/access/keys/identify.ts';
import { hashKey } from '../../../kit/access/keys/key-form.ts';
import { checkbox, postForm, submitButton } from '../../../kit/html/controls.ts';
import { type Html, html } from '../../../kit/html/html.ts';
import { page } from '../../../kit/html/page.ts';
import { read } from '../../../kit/operation/kit.ts';
import { change, noLookUp, nothing } from '../../../kit/operation/operation.ts';
import { MINUTE_MS } from '../../../kit/values/duration.ts';
import { newId } from '../../../kit/values/ids.ts';
import { getBrand } from '../../../platform/brands/brands.ts';
import { insertGrant, newSecret } from '../../../platform/keys/agent-grants.ts';
import { assertFresh, isFresh } from '../../../platform/people/sessions.ts';
import { READONLY } from '../catalog.ts';
import type { ConsentRequest } from './request.ts';

const CODE_LIFE_MS = MINUTE_MS;
const tag = 'Agents';

const Owner = z.object({ brand: z.string(), email: z.string(), is_fresh: z.boolean() });

/** The person who is signed in to the web app and sees the consent page. */
export const askOwner = read({
  id: 'show_agent_consent',
  path: '/oauth/authorize',
  tag,
  summary: 'Whom an agent asks',
  description: 'The signed-in owner.',
  callers: ['session'],
  ownersOnly: true,
  response: Owner,
  handler: async ({ postgres: { db }, clock }, { caller }) => ({
    brand: (await getBrand(db, caller.brandId)).name,
    email: requirePerson(caller).email,
    is_fresh: await isFresh({ db, brandId: caller.brandId, now: clock.now() }, caller),
  }),
});

const Consent = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uri: z.string(),
  code_challenge: z.string(),
  scopes: z.array(z.string()).min(1),
});

/** An owner's consent, as a code that the host exchanges for tokens. */
export const grantAgent = change({
  id: 'grant_agent',
  method: 'POST',
  path: '/oauth/authorize',
  tag,
  summary: 'Let an agent act for the brand',
  description: 'Within the scopes and the policy for agents.',
  callers: ['session'],
  ownersOnly: true,
  errors: ['SIGN_IN_AGAIN'],
  params: nothing,
  query: nothing,
  body: Consent,
  response: z.object({ code: z.string() }),
  sealsAnswer: true,
  hints: { readOnly: false, idempotent: false, destructive: false },
  lookUp: noLookUp,
  apply: async (work, { caller, body }) => {
    await assertFresh(work, caller);
    const { db, brandId, now } = work;
    const code = newSecret('svc_');
    const grant = {
      id: newId('agr', now.getTime()),
      brandId,
      personId: requirePerson(caller).id,
      createdAt: now,
      clientName: body.client_name,
      redirectUri: body.redirect_uri,
      scopes: body.scopes,
    };
    const codeExpiresAt = new Date(now.getTime() + CODE_LIFE_MS);
    const proof = { clientHash: hashKey(body.client_id), codeHash: hashKey(code), codeChallenge: body.code_challenge };
    await insertGrant(db, { ...grant, ...proof, codeExpiresAt });
    work.audit({ resourceId: grant.id, old: null, new: grant });
    return { code };
  },
});

const describeToolset = (toolset: string): string =>
  toolset.replaceAll('-', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** The address that a request returns to: a website by its host, an app by its whole address, which no one owns. */
function describeReturn(redirectUri: string): Html {
  const { protocol, host } = new URL(redirectUri);
  if (protocol === 'https:') return html`<strong>${host}</strong>`;
  if (protocol === 'http:') return html`<strong>a program on your own device</strong> (${host})`;
  return html`<strong>${redirectUri}</strong>`;
}

const warnOfApps = (redirectUri: string): Html =>
  /^https?:/i.test(redirectUri)
    ? html``
    : html`<p class="notice" role="alert">This address belongs to an app on your device, and any app can claim it. Allow it only if you
have just started this in an app that you trust.</p>
`;

/** Asks which parts the agent may use, and whether it may change anything; `action` is the page itself. */
export function consentPage(
  { client, scopes, redirectUri }: ConsentRequest,
  owner: z.infer<typeof Owner>,
  action: string,
): string {
  const boxes = scopes.map((one) =>
    checkbox({ name: one, label: describeToolset(one), isChecked: true, required: true }),
  );
  const only = { name: READONLY, label: 'Only read: it may not change anything', required: true };
  const title = `Let ${client.client_name} act for ${owner.brand}?`;
  return page(
    title,
    html`<h1>${title}</h1>
<p>It calls itself “${client.client_name}” and returns to ${describeReturn(redirectUri)}. Allow it only if you have
just connected it yourself. The policy for agents applies to all it does; you can end its access under Keys.</p>
${warnOfApps(redirectUri)}<p class="hint">Signed in as ${owner.email}.</p>
${postForm(
  action,
  html`<h2>It may use</h2>
${boxes}<h2>How</h2>
${checkbox({ ...only, isChecked: false })}
${submitButton('Allow', { name: 'decision', value: 'allow' })}
${submitButton('Refuse', { name: 'decision', value: 'refuse', quiet: true })}`,
)}`,
  );
}

/** A wrong request. Nothing leads back to its client but a person: anyone can register an address to be led to. */
export const wrongRequestPage = ({ clientName, error }: { clientName: string; error: string }, back: string): string =>
  messagePage(
    'This request does not work',
    html`<p>“${clientName}” asked to act for you, but not in a way that works here: <code>${error}</code>.</p>
<p><a href="${back}" rel="noreferrer">Return to ${back.replace(/\?.*/s, '')}</a></p>`,
  );

export const messagePage = (title: string, message: Html): string => page(title, html`<h1>${title}</h1>\n${message}`);
