import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { relativePath, titleOf } from './outcome.ts';

const SILENCE_MS = 20_000;
const SLOWEST = 10;

interface Running {
  startedAt: number;
  /** The test or hook that runs now. */
  test: string | undefined;
}

interface Ended {
  file: string;
  seconds: number;
  cpuSeconds: number | undefined;
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const inMinutes = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

/**
 * Shows how far a run is: a line for each file that ends, or on a terminal one line that is written over, and the
 * failures as they happen. After 20 s of silence it says what the run waits for.
 */
export class Progress implements Reporter {
  /** Errors outside of any test, of the last run. */
  errors: readonly SerializedError[] = [];

  private readonly isTerminal = process.stdout.isTTY === true;
  private readonly startedAt = performance.now();
  private readonly running = new Map<string, Running>();
  private readonly ended: Ended[] = [];
  private vitest: Vitest | undefined;
  private total = 0;
  private done = 0;
  private passed = 0;
  private failed = 0;
  private saidAt = performance.now();
  private ticking: NodeJS.Timeout | undefined;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.total = specifications.length;
    this.done = 0;
    this.saidAt = performance.now();
    this.ticking = setInterval(() => this.tick(), this.isTerminal ? 500 : 1_000);
  }

  onTestModuleStart(module: TestModule): void {
    this.running.set(module.moduleId, { startedAt: performance.now(), test: undefined });
  }

  onTestCaseReady(test: TestCase): void {
    const running = this.running.get(test.module.moduleId);
    if (running) running.test = titleOf(test);
  }

  onTestModuleEnd(module: TestModule): void {
    const file = relativePath(module.moduleId);
    const ms = performance.now() - (this.running.get(module.moduleId)?.startedAt ?? performance.now());
    this.running.delete(module.moduleId);
    const { cpuMs } = module.meta();
    this.ended.push({ file, seconds: ms / 1000, cpuSeconds: cpuMs === undefined ? undefined : cpuMs / 1000 });
    this.done += 1;
    const failures = [...module.children.allTests('failed')];
    const passed = [...module.children.allTests('passed')].length;
    this.passed += passed;
    this.failed += failures.length;
    const cpu = cpuMs === undefined ? '' : `, ${inSeconds(cpuMs)} of CPU`;
    const bad = module.state() === 'failed' ? ', FAILED' : '';
    const line = `[${this.done}/${this.total}] ${file}: ${passed} passed in ${inSeconds(ms)}${cpu}${bad}`;
    if (bad !== '' || !this.isTerminal) this.say(line);
    this.showErrors(module);
  }

  onUserConsoleLog({ content, type }: Parameters<NonNullable<Reporter['onUserConsoleLog']>>[0]): void {
    this.clearLine();
    process[type].write(content.endsWith('\n') ? content : `${content}\n`);
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    clearInterval(this.ticking);
    this.running.clear();
    this.clearLine();
    this.errors = errors;
    for (const error of errors) this.vitest?.logger.printError(error, { type: 'Outside of any test' });
  }

  /** The files that took longest, with the CPU time of their own process and of the processes that they started. */
  showSlowest(): void {
    const slowest = this.ended.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    if (slowest.length < 2) return;
    this.say('\nThe slowest files, and the CPU time of their tests without the engines:');
    for (const { file, seconds, cpuSeconds } of slowest) {
      const cpu = cpuSeconds === undefined ? '' : `  CPU ${cpuSeconds.toFixed(1).padStart(6)} s`;
      this.say(`${seconds.toFixed(1).padStart(7)} s${cpu}  ${file}`);
    }
  }

  /** CPU time of all files without the engines. */
  sumCpuSeconds(): number {
    return this.ended.reduce((sum, { cpuSeconds = 0 }) => sum + cpuSeconds, 0);
  }

  say(line: string): void {
    this.clearLine();
    this.saidAt = performance.now();
    process.stdout.write(`${line}\n`);
  }

  private showErrors(module: TestModule): void {
    const show = (title: string, errors: readonly SerializedError[]) => {
      if (errors.length === 0) return;
      this.say(`✗ ${relativePath(module.moduleId)}${title === '' ? '' : ` › ${title}`}`);
      for (const error of errors) this.vitest?.logger.printError(error, { project: module.project });
    };
    show('', module.errors());
    for (const suite of module.children.allSuites()) show(titleOf(suite), suite.errors());
    for (const test of module.children.allTests('failed')) show(titleOf(test), test.result().errors ?? []);
  }

  private waitedFor(): string[] {
    const now = performance.now();
    return [...this.running]
      .toSorted(([, a], [, b]) => a.startedAt - b.startedAt)
      .map(([moduleId, { startedAt, test }]) => {
        const where = test === undefined ? '' : ` › ${test}`;
        return `${relativePath(moduleId)}${where} (${inMinutes(now - startedAt)})`;
      });
  }

  private tick(): void {
    const isSilent = performance.now() - this.saidAt > SILENCE_MS;
    if (!this.isTerminal) {
      if (isSilent)
        this.say(
          `        waiting for ${this.waitedFor().join(', ') || (this.done === 0 ? 'the engines' : 'a worker to start')}`,
        );
      return;
    }
    const elapsed = inMinutes(performance.now() - this.startedAt);
    const counts = `${this.done}/${this.total} files, ${this.passed} passed, ${this.failed} failed, ${elapsed}`;
    const [longest = ''] = this.waitedFor();
    process.stdout.write(`\r\x1b[K${`${counts}  ${longest}`.slice(0, process.stdout.columns - 1)}`);
  }

  private clearLine(): void {
    if (this.isTerminal) process.stdout.write('\r\x1b[K');
  }
}
