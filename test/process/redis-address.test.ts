import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';

it.each([
  ['redis://h:1,h:2', 'has several addresses: write redis+cluster:// for a Redis Cluster'],
  ['redis+cluster://h:1,h:x', 'has "h:x" where a host:port belongs'],
  ['redis+cluster://h:1/3', 'has database 3: a Redis Cluster has only 0'],
  ['redis+sentinel://h:1', 'lacks the name of the primary: redis+sentinel://host:port,host:port/name'],
  ['http://h:1', 'must be redis://host:6379'],
])('A start with REDIS_URL=%s is refused with the reason and the form that is right', (url, why) => {
  expect(() => readConfig({ REDIS_URL: url })).toThrow(why);
});

it('A refused URL is shown without its password', () => {
  expect(() => readConfig({ REDIS_URL: `redis+cluster://user:${'secret'}@h:x` })).toThrow('redis+cluster://…@h:x');
});
