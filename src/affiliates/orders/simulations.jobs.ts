import { Readable } from 'node:stream';
import type { Context } from '../../kit/operation/context.ts';
import { serialize } from '../../kit/operation/operation.ts';
import { toStorageKey } from '../../platform/jobs/job-files.ts';
import { type ClaimedJob, type JobKind, storeFile, type TurnOutcome } from '../../platform/jobs/jobs.ts';
import { Simulation, SimulationJob, SimulationProgress } from './simulations.shapes.ts';
import { countPaidOrders, NOTHING_YET, simulateNextOrders, toSimulation, toSimulationPlan } from './simulations.ts';

/** Limit of creators in the job's `result`, which lists of jobs include. */
const SHOWN_CREATORS = 100;

async function runSimulation(
  context: Context,
  job: ClaimedJob,
  { signal, note }: Parameters<JobKind['run']>[2],
): Promise<TurnOutcome> {
  const { postgres, config, files } = context;
  const { brandId } = job;
  const plan = toSimulationPlan(SimulationJob.parse(job.request));
  const totalRows = job.totalRows ?? (await countPaidOrders(postgres.db, brandId, plan.period));
  const before = SimulationProgress.parse(job.cursor ?? NOTHING_YET);
  const { progress, isLast } = await simulateNextOrders(context, brandId, plan, before, {
    most: config.simulationOrders,
    seen: (orders) => {
      signal.throwIfAborted();
      note(orders);
    },
  });
  const rows = progress.counts.orders;
  if (!isLast) return { cursor: progress, rows, totalRows, isDone: false };
  const answer = await toSimulation(postgres.db, brandId, plan, progress);
  const storageKey = toStorageKey(job.id, 1, job.claim);
  const file = { number: 1, name: 'simulation.json', mimeType: 'application/json', storageKey };
  const bytes = serialize(Simulation, answer);
  const storedFile = await storeFile(
    files,
    { key: storageKey, mimeType: file.mimeType, signal },
    Readable.from([bytes]),
  );
  return {
    cursor: null,
    rows,
    totalRows,
    isDone: true,
    file: { ...file, ...storedFile, rows: answer.data.creators.length },
    result: { ...answer, data: { ...answer.data, creators: answer.data.creators.slice(0, SHOWN_CREATORS) } },
  };
}

/** Simulates orders turn by turn. A lost turn is repeated. */
export const simulationKind: JobKind = { run: runSimulation };
