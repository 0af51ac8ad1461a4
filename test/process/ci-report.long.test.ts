import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHILD_ENV } from '../harness/process/child.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'ci-report-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A run's exit code and its lines, without the terminal's colours. */
function runOf(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  const plain = `${stdout}${stderr}`.replace(/\p{Cc}\[[0-9;]*m/gu, '');
  return { status, out: stdout, text: plain, lines: stdout.trimEnd().split('\n') };
}

/** Tests by the name of their file. A file fails only in its first run where it asks `isFirst()`. */
function runTests(files: Record<string, string>) {
  const tests = mkdtempSync(path.join(folder, 'tests-'));
  const [vitest, first] = [path.resolve('node_modules/vitest/dist/index.js'), path.join(tests, 'first-')];
  const head = (name: string) => `import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from ${JSON.stringify(vitest)};
const mark = ${JSON.stringify(`${first}${name}`)};
const isFirst = () => !existsSync(mark) && (writeFileSync(mark, ''), true);
`;
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(tests, name), head(name) + text);
  const { status, lines } = runOf(process.execPath, [path.resolve('test/run/main.ts')], {
    cwd: tests,
    env: { ...CHILD_ENV, TEST_SEED: '7' },
  });
  return { status, end: lines.slice(lines.findLastIndex((line) => line.startsWith('CPU time')) + 2) };
}

describe('A run of the tests', () => {
  it('ends with the failures, each with its file, title and message, and with the counts', () => {
    const { status, end } = runTests({
      'sums.test.js': `describe('sums', () => { it('add up', () => expect(1 + 1, 'of one').toBe(3)); it('hold', () => {}); });`,
      'broken.test.js': `throw new Error('It does not load.');`,
    });
    expect(status).toBe(1);
    expect(end).toEqual([
      'FAILED broken.test.js',
      '         It does not load.',
      'FAILED sums.test.js › sums › add up',
      '         of one: expected 2 to be 3 // Object.is equality',
      'With TEST_SEED=7, the same random values are tested again.',
      '1 passed, 2 failed',
    ]);
  });

  it('passes when each file that failed passes alone, and lists the tests, hooks and files that are flaky', () => {
    const { status, end } = runTests({
      'crash.test.js': `it('ends', async () => { if (isFirst()) { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); } });`,
      'hook.test.js': `describe('with a hook', () => { beforeAll(() => { if (isFirst()) throw new Error('No hook.'); }); it('holds', () => {}); });`,
      'loose.test.js': `it('waits', async () => { if (isFirst()) void Promise.reject(new Error('Loose.')); await new Promise((end) => setTimeout(end, 100)); });`,
      'once.test.js': `it('fails once', () => { if (isFirst()) throw new Error('Once.\\nOnly.'); }); it('holds', () => {});`,
    });
    expect([status, ...end]).toEqual([
      0,
      'FLAKY crash.test.js › outside of any test: [vitest-pool]: Worker forks emitted error.',
      'FLAKY hook.test.js › with a hook: No hook.',
      'FLAKY loose.test.js › outside of any test: Loose.',
      'FLAKY once.test.js › fails once: Once.',
      '4 tests are flaky: failed once, and passed when the file ran again alone.',
      'With TEST_SEED=7, the same random values are tested again.',
      '4 passed, 0 failed',
    ]);
  });

  it('fails when a file fails alone, too, or kills its process again', () => {
    const { status, end } = runTests({
      'crash.test.js': `it('ends', async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); });`,
      'loose.test.js': `it('waits', async () => { void Promise.reject(new Error('Loose.')); await new Promise((end) => setTimeout(end, 100)); });`,
      'other.test.js': `it('fails first', () => { if (isFirst()) throw new Error('First.'); writeFileSync(mark + 'again', ''); }); it('fails then', () => { if (existsSync(mark + 'again')) throw new Error('Then.'); });`,
    });
    expect(status).toBe(1);
    expect(end.filter((line) => /^(?:FAILED|FLAKY)|passed/.test(line))).toEqual([
      'FLAKY other.test.js › fails first: First.',
      '1 test is flaky: failed once, and passed when the file ran again alone.',
      'FAILED crash.test.js › outside of any test',
      'FAILED loose.test.js › outside of any test',
      'FAILED other.test.js › fails then',
      '1 passed, 3 failed',
    ]);
  });

  it('fails when nothing matches what it was asked for', () => {
    expect(runTests({}).end).toEqual([
      'FAILED outside of any file',
      '         No test file matches.',
      'With TEST_SEED=7, the same random values are tested again.',
      '0 passed, 1 failed',
    ]);
  });
});

describe('.ci/run', () => {
  /** What npm prints and answers for each of its steps, as a run of it has them. */
  interface Steps {
    ci?: number;
    test?: [text: string, code: number];
    check?: [text: string, code: number];
    fuzz?: [text: string, code: number];
  }
  function runCi({ ci = 0, test = ['5 passed, 0 failed', 0], check = ['ok    types', 0], fuzz = ['', 0] }: Steps) {
    const bin = mkdtempSync(path.join(folder, 'bin-'));
    const answer = ([text, code]: [string, number]) => `cat <<'END'\n${text}\nEND\nexit ${code}`;
    const npm = `#!/usr/bin/env bash\ncase "$*" in\nci) exit ${ci};;\n*test:all) ${answer(test)};;\n*check) ${answer(check)};;\n*fuzz*) ${answer(fuzz)};;\nesac\n`;
    writeFileSync(path.join(bin, 'npm'), npm, { mode: 0o755 });
    for (const name of ['chromium', 'php']) writeFileSync(path.join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
    return runOf('.ci/run', [], { env: { PATH: `${bin}:/usr/bin:/bin` } });
  }
  const FAILED = 'FAILED test/a.test.ts › a thing › holds\n         expected 1 to be 2';

  it('ends with the counts of every part, and with 0 if everything passes', () => {
    const { status, lines, text } = runCi({});
    expect([status, lines.at(-1)]).toEqual([0, '7 passed, 0 failed']);
    expect(text).not.toContain('failed:');
  });

  it('lists the flaky tests, which stop nothing', () => {
    const flaky = 'FLAKY test/a.test.ts › a thing: expected 1 to be 2';
    const { status, lines, text } = runCi({ test: [`${flaky}\n5 passed, 0 failed`, 0] });
    expect([status, lines.at(-1)]).toEqual([0, '7 passed, 0 failed']);
    expect(text.slice(text.indexOf('Flaky:'))).toBe(`Flaky:\n${flaky}\n`);
  });

  it.each<[string, Steps, string, string]>([
    [
      'a test',
      { test: [`noise\n${FAILED}\n4 passed, 1 failed, 1 skipped`, 1] },
      FAILED,
      '6 passed, 1 failed, 1 skipped',
    ],
    [
      'a check',
      { check: ['ok    types (1 s)\nFAILED house rule (4 s)\n         a.ts has 301 lines\nok    lock', 1] },
      'FAILED house rule (4 s)\n         a.ts has 301 lines',
      '6 passed, 1 failed',
    ],
    ['the fuzzer', { fuzz: ['found', 1] }, 'FAILED npm run fuzz: what it found stands above', '6 passed, 1 failed'],
    ['the install', { ci: 1 }, 'FAILED npm ci: nothing was tested', '1 passed, 1 failed'],
    [
      'a run that is killed before it counts',
      { test: ['half of it', 137] },
      'FAILED npm run test:all: it ended with 137, and counted no failure',
      '2 passed, 1 failed',
    ],
    [
      'a run that counts no failure and fails',
      { test: ['5 passed, 0 failed', 1] },
      'FAILED npm run test:all: it ended with 1, and counted no failure',
      '7 passed, 1 failed',
    ],
  ])('ends with 1 when %s fails, and repeats the reason at its end', (_what, steps, said, counts) => {
    const { status, lines, text } = runCi(steps);
    expect([status, lines.at(-1)]).toEqual([1, counts]);
    expect(text.slice(text.indexOf('What failed:'))).toBe(`What failed:\n${said}\n`);
  });
});
