import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { confirmForgetting, isRequested, requestForgetting } from '../../directory/opt-out/requests.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { addressForm, send } from './address-form.ts';
import { askPage, confirmPage, donePage, missingPage, sentPage } from './forget.ts';

const Params = z.object({ token: z.string() });

/** Lets creators leave the directory: an address, a mail that proves it, and a button. */
export function forgetRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const { pageLinks, clock } = context;
  const { options, assertAllowed } = addressForm(app, context, metrics, {
    name: 'forget',
    ask: askPage,
    sent: sentPage(),
    request: (email) => requestForgetting(context, email),
  });

  const readLink = ({ params }: FastifyRequest) => pageLinks.read('forget', Params.parse(params).token, clock.now());

  // Mail scanners open every link, so opening it does nothing.
  app.get('/forget/:token', options, async (request, reply) => {
    const link = readLink(request);
    if (!link || !(await isRequested(context, link.rowId))) return await send(reply, 404, missingPage());
    return await send(reply, 200, confirmPage(`/forget/${Params.parse(request.params).token}`));
  });

  app.post('/forget/:token', options, async (request, reply) => {
    await assertAllowed(request);
    const link = readLink(request);
    if (!link || !(await confirmForgetting(context, link.rowId))) return await send(reply, 404, missingPage());
    return await send(reply, 200, donePage());
  });
}
