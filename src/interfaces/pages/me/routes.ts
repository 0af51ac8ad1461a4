import type { FastifyInstance } from 'fastify';
import { html } from '../../../kit/html/html.ts';
import { page } from '../../../kit/html/page.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Metrics } from '../../../kit/values/metrics.ts';
import { mailPageLinks } from '../../../workflow/creators/creators.ts';
import { openAfterAnswer } from '../../http/after-answer.ts';
import { addressForm } from '../address-form.ts';
import { askPage } from './ask.ts';

const SENT = page(
  'Check your email',
  html`<h1>Check your email</h1>
<p>If a brand knows this address, its link is on the way to it.</p>
<p class="hint">No email yet? Wait a few minutes, look in your spam folder, and check the address for typing errors. A brand whose emails you have stopped cannot send you the link; please ask the brand.</p>`,
);

/** `/me`: a creator who lost the link to their page gets it by mail. */
export function meRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const afterAnswer = openAfterAnswer(app, context.log);
  addressForm(app, context, metrics, {
    name: 'me',
    ask: askPage,
    sent: SENT,
    request: (email, request, reply) => afterAnswer(request, reply, () => mailPageLinks(context, email, request.id)),
  });
}
