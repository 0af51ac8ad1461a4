import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestSpecification } from 'vitest/node';
import { readOutcomes } from './outcome.ts';
import { type Results, showResults } from './results.ts';

/** Ends a run of `npx vitest` as `npm test` ends: with what failed and the counts. It runs nothing again. */
export default class Summary implements Reporter {
  private specifications: readonly TestSpecification[] = [];
  private results: Results = { outcomes: [], nobodys: ['Nothing ran: the lines above say why.'] };

  onInit(): void {
    process.once('exit', () => writeSync(1, showResults(this.results).text));
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.specifications = specifications;
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    this.results = readOutcomes(this.specifications, errors);
  }
}
