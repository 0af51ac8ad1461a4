import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toApiError } from '../../kit/values/errors.ts';
import { type Log, logFailure } from '../../kit/values/log.ts';

/** Runs work once a response was sent, so that the response's timing does not reveal what the work found. */
export type AfterAnswer = (request: FastifyRequest, reply: FastifyReply, work: () => Promise<void>) => void;

/** The app's close waits for work that has begun. */
export function openAfterAnswer(app: FastifyInstance, log: Log): AfterAnswer {
  const running = new Set<Promise<void>>();
  app.addHook('onClose', async () => void (await Promise.all(running)));
  return (request, reply, work) => {
    reply.raw.once('close', () => {
      const task = work()
        .catch((error: unknown) => logFailure(log, toApiError(error), request.id))
        .finally(() => running.delete(task));
      running.add(task);
    });
  };
}
