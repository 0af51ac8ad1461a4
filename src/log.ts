import type { FastifyBaseLogger } from 'fastify';

/** Structured log lines: an object of facts, then a message. */
export type Log = FastifyBaseLogger;
