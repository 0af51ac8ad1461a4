import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contactsIn } from '../../src/resources/messages/contact-guard.ts';

const KINDS: Readonly<Record<string, string[]>> = { '-': [], e: ['email'], p: ['phone'], ep: ['email', 'phone'] };

const sentences = readFileSync(new URL('./contact-sentences.txt', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line): [string, string[]][] => {
    const [, kinds, text] = /^(-|ep|e|p) \| (.*)$/.exec(line) ?? [];
    return kinds !== undefined && text !== undefined ? [[text, KINDS[kinds] ?? []]] : [];
  });

describe('the contact guard', () => {
  it('has many sentences to be measured by, of every kind', () => {
    expect(sentences.length).toBeGreaterThan(200);
  });

  it.each(sentences)('reads %j as %j', (text, expected) => {
    expect(contactsIn(text)).toEqual(expected);
  });

  it('finds what stands in the middle of a long message, and takes no time for one that only looks like it', () => {
    const long = 'We love your work and would like to see more of it. '.repeat(190);
    expect(contactsIn(`${long} anna(at)example.com`)).toEqual(['email']);
    const started = performance.now();
    for (const text of [
      'a.'.repeat(5_000),
      '1 '.repeat(5_000),
      'a at '.repeat(2_000),
      '1.'.repeat(5_000),
      '- '.repeat(5_000),
      '@'.repeat(10_000),
      'one '.repeat(2_500),
      'a@'.repeat(5_000),
      '1+'.repeat(5_000),
      '1 and '.repeat(1_600),
      '415* '.repeat(2_000),
    ]) {
      contactsIn(text);
    }
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
