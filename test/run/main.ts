import { createVitest, parseCLI, type TestSpecification, type Vitest } from 'vitest/node';
import { readCpuMs } from './cpu.ts';
import { judge, type Outcome, readOutcomes, textOf } from './outcome.ts';
import { Progress } from './progress.ts';
import { type Results, showResults } from './results.ts';

/** More failing files than this are no coincidence, and would take too long to run again. */
const MOST_AGAIN = 20;

async function runFiles(vitest: Vitest, progress: Progress, specifications: TestSpecification[]): Promise<Results> {
  await vitest.runTestSpecifications(specifications, true);
  return readOutcomes(specifications, progress.errors);
}

/** A file with failures runs once more, alone, after all others; a test that fails then has failed. */
async function runAgain(
  vitest: Vitest,
  progress: Progress,
  specifications: readonly TestSpecification[],
  { outcomes, nobodys }: Results,
): Promise<Results> {
  const failing = outcomes.filter(({ failures }) => failures.length > 0).length;
  if (failing === 0) return { outcomes, nobodys };
  if (failing > MOST_AGAIN) {
    progress.say(`${failing} files failed: none runs again, because so many are not flaky.`);
    return { outcomes, nobodys };
  }
  const judged: Outcome[] = [];
  const errors = [...nobodys];
  for (const [i, first] of outcomes.entries()) {
    const specification = specifications[i];
    if (first.failures.length === 0 || specification === undefined) {
      judged.push(first);
      continue;
    }
    vitest.provide('attempt', 1);
    progress.say(`\n${first.file} failed, and runs once more, alone:`);
    const again = await runFiles(vitest, progress, [specification]);
    judged.push(...again.outcomes.map((outcome) => judge(first, outcome)));
    errors.push(...again.nobodys);
  }
  return { outcomes: judged, nobodys: errors };
}

async function run(vitest: Vitest, progress: Progress, filters: string[]): Promise<Results> {
  try {
    const specifications = await vitest.globTestSpecifications(filters);
    if (specifications.length === 0)
      return { outcomes: [], nobodys: [`No test file matches${filters.map((one) => ` ${one}`).join('')}.`] };
    return await runAgain(vitest, progress, specifications, await runFiles(vitest, progress, specifications));
  } catch (error) {
    vitest.logger.printError(error, { fullStack: true });
    return { outcomes: [], nobodys: [textOf(error)] };
  }
}

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const progress = new Progress();
const vitest = await createVitest('test', { ...options, watch: false, reporters: [progress] });
progress.onInit(vitest);
const results = await run(vitest, progress, filter);
progress.showSlowest();
await vitest.close();
const { text, failed } = showResults(results);
const [all, tests] = [readCpuMs() / 1000, progress.sumCpuSeconds()].map((seconds) => seconds.toFixed(0));
progress.say(`\nCPU time of the run, with its engines: ${all} s; of the tests and their processes: ${tests} s`);
process.stdout.write(`\n${text}`, () => process.exit(failed === 0 ? 0 : 1));
