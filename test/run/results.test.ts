import { describe, expect, it } from 'vitest';
import { type Failure, judge, type Outcome } from './outcome.ts';
import { showResults } from './results.ts';

const failed = (title: string, kind: Failure['kind'] = 'test'): Failure => ({ kind, title, said: [`${title} broke`] });
const outcome = (more: Partial<Outcome>): Outcome => ({
  file: 'a.test.ts',
  passed: [],
  skipped: 0,
  failures: [],
  ...more,
});

describe('The second run of a file', () => {
  it.each<[string, Partial<Outcome>, Partial<Outcome>, { flaky: string[]; failures: string[]; passed: string[] }]>([
    [
      'a test that passes is flaky, and no longer counted as passed',
      { passed: ['b'], failures: [failed('a')] },
      { passed: ['a', 'b'] },
      { flaky: ['a'], failures: [], passed: ['b'] },
    ],
    [
      'a test that fails again has failed',
      { passed: ['b'], failures: [failed('a')] },
      { passed: ['b'], failures: [failed('a')] },
      { flaky: [], failures: ['a'], passed: ['b'] },
    ],
    [
      'a test that fails only now has failed',
      { passed: ['b'], failures: [failed('a')] },
      { passed: ['a'], failures: [failed('b')] },
      { flaky: ['a'], failures: ['b'], passed: [] },
    ],
    [
      'a test that did not run has failed',
      { failures: [failed('a')] },
      { failures: [failed('', 'file')] },
      { flaky: [], failures: ['', 'a'], passed: [] },
    ],
    [
      'a hook that throws no more is flaky',
      { failures: [failed('a suite', 'hook')] },
      { passed: ['a suite › a'] },
      { flaky: ['a suite'], failures: [], passed: ['a suite › a'] },
    ],
  ])('%s', (_what, first, again, expected) => {
    const { flaky, failures, passed } = judge(outcome(first), outcome(again));
    const titles = (some: readonly Failure[]) => some.map(({ title }) => title);
    expect({ flaky: titles(flaky), failures: titles(failures), passed }).toEqual(expected);
  });
});

describe('The results of a run', () => {
  const withFlaky = (count: number) => {
    const titles = Array.from({ length: count }, (_, i) => `test ${i}`);
    const first = outcome({ failures: titles.map((title) => failed(title)) });
    return showResults({ outcomes: [judge(first, outcome({ passed: titles }))], nobodys: [] });
  };

  it('pass with five flaky tests and fail with six', () => {
    expect(withFlaky(5)).toMatchObject({ failed: 0, text: expect.stringMatching(/\n0 passed, 0 failed\n$/) });
    expect(withFlaky(6)).toMatchObject({
      failed: 1,
      text: expect.stringMatching(/FAILED 6 flaky tests\n[\s\S]*1 failed\n$/),
    });
  });

  it('fail for an error that belongs to no file', () => {
    expect(showResults({ outcomes: [outcome({ passed: ['a'] })], nobodys: ['No engines.'] })).toMatchObject({
      failed: 1,
      text: expect.stringMatching(/^FAILED outside of any file\n {9}No engines\.\n[\s\S]*1 passed, 1 failed\n$/),
    });
  });
});
