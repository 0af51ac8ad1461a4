import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../kit/operation/context.ts';
import { type ApiError, errorBody } from '../../kit/values/errors.ts';
import { logFailure } from '../../kit/values/log.ts';
import type { Metrics } from '../../kit/values/metrics.ts';

/** Answers with an error, which is counted and, if it is ours, logged. */
export type SendRefusal = (answer: ApiError, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export const openRefusals =
  ({ log }: Pick<Context, 'log'>, metrics: Metrics): SendRefusal =>
  (answer, { id }, reply) => {
    logFailure(log, answer, id);
    metrics.refusals.inc({ door: 'ingest', code: answer.code });
    return reply
      .code(answer.status)
      .headers(answer.headers)
      .type('application/json; charset=utf-8')
      .send(Buffer.from(JSON.stringify(errorBody(answer, id))));
  };
