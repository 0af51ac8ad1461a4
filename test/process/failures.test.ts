import pino from 'pino';
import { expect, it } from 'vitest';
import { unavailable } from '../../src/kit/values/errors.ts';
import { logFailure, toLogFacts, toReason } from '../../src/kit/values/log.ts';
import { explainFailure } from '../../src/process/shutdown.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

it('What does not answer is one line in the log, with the reason below all wrappings', () => {
  const fetched = new TypeError('fetch failed', { cause: new AggregateError([refused]) });
  expect(toLogFacts(unavailable('The store', fetched))).toEqual({
    reason:
      'The store is unavailable; try again shortly.: fetch failed: AggregateError: connect ECONNREFUSED 127.0.0.1:5432',
  });
  expect(toReason(new Error('two\n lines'))).toBe('two lines');
});

it('A mistake of ours keeps its stack, also where it is answered as 503', () => {
  for (const error of [new Error('no'), unavailable('PostgreSQL', new TypeError('x is not a function'))]) {
    expect(toLogFacts(error)).toEqual({ err: error });
  }
  const lines: string[] = [];
  logFailure(pino({}, { write: (line: string) => void lines.push(line) }), unavailable('PostgreSQL', refused), 'req_1');
  expect(lines).toEqual([expect.stringMatching(/^\{"level":40,.*"reason":"PostgreSQL .*ECONNREFUSED[^\n]*\}\n$/)]);
  expect(lines.join()).not.toContain('stack');
});

it('A folder that cannot be written to is one sentence with the way out', () => {
  const error = Object.assign(new Error('EROFS: read-only file system'), {
    code: 'EROFS',
    syscall: 'mkdir',
    path: '/ro/a',
  });
  expect(explainFailure(error)).toBe(
    'Rollcall cannot write to /ro/a: its file system is read-only. Set ROLLCALL_DIR to a folder where it may.',
  );
  expect(explainFailure(Object.assign(error, { code: 'EACCES' }))).toContain('this user may not');
  expect(explainFailure(new Error('Another thing.'))).toBe('Another thing.');
});
