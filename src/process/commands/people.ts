import { type Command, Option } from 'commander';
import {
  DataRequestCreate,
  type DataRequestRow,
  toDataRequest,
} from '../../affiliates/data-requests/data-requests.shapes.ts';
import {
  carryOutRunning,
  createRequest,
  dataRequests,
  readFile,
} from '../../affiliates/data-requests/data-requests.ts';
import { convertSeals } from '../../affiliates/ledger/convert-seals.ts';
import { inWork } from '../../kit/operation/work.ts';
import { validationError } from '../../kit/values/errors.ts';
import { toProblems } from '../../kit/values/problems.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { type CommandEngines, withEngines } from './open.ts';

interface PeopleOptions {
  brand?: string;
  creatorId?: string;
  creatorEmail?: string;
  creatorHandle?: string;
  customerEmail?: string;
  reason?: string;
  forfeit?: boolean;
}

/** Files a request and carries it out. */
async function carryOut(
  { db, clock, secrets }: CommandEngines,
  kind: 'erasure' | 'access',
  { brand, creatorId, creatorEmail, creatorHandle, customerEmail, reason, forfeit }: PeopleOptions,
): Promise<DataRequestRow> {
  const { id: brandId } = await getBrand(db, brand);
  const options = {
    kind,
    creator_id: creatorId,
    creator_email: creatorEmail,
    creator_handle: creatorHandle,
    customer_email: customerEmail,
    reason,
    forfeit,
  };
  const parsedBody = DataRequestCreate.safeParse(options, { reportInput: true });
  if (!parsedBody.success) throw validationError(toProblems(parsedBody));
  const body = parsedBody.data;
  const actor = { brandId, keyId: null, operation: `people_${kind}`, requestId: null };
  const row = await inWork(db, clock, actor, (work) => createRequest(work, secrets(), body, 'cli'));
  if (row.state !== 'running') return row;
  await convertSeals(db, clock, brandId);
  await inWork(db, clock, actor, (work) => carryOutRunning(work, secrets(), row.id));
  return await dataRequests.get(db, brandId, row.id);
}

const print = (value: unknown) => around().out.write(`${JSON.stringify(value, null, 2)}\n`);

async function erase(engines: CommandEngines, options: PeopleOptions): Promise<void> {
  print(toDataRequest(await carryOut(engines, 'erasure', options)));
}

async function exportPerson(engines: CommandEngines, options: PeopleOptions): Promise<void> {
  const { id, brandId } = await carryOut(engines, 'access', options);
  print(await readFile({ ...engines, secrets: engines.secrets() }, engines.db, brandId, id));
}

const addSelectors = (command: Command) =>
  command
    .option('--brand <id or name>', 'the brand; needed if there are several')
    .addOption(new Option('--creator-id <id>', 'a creator, by id'))
    .addOption(new Option('--creator-email <address>', 'a creator, by email address'))
    .addOption(new Option('--creator-handle <handle>', 'a creator, by a handle'))
    .addOption(new Option('--customer-email <address>', 'a buyer, by email address'))
    .option('--reason <words>', 'your own words on the request');

export function peopleCommands(program: Command): void {
  const people = program
    .command('people')
    .description("people's rights: erase a person, or export what is kept about them");
  addSelectors(people.command('erase'))
    .description('erase a creator or a buyer; prints what was removed and what stays')
    .option('--forfeit', 'reject commissions that are still due to the creator; without it, the erasure is refused')
    .action((options: PeopleOptions) => withEngines((engines) => erase(engines, options)));
  addSelectors(people.command('export'))
    .description('print everything that is kept about a person, as JSON')
    .action((options: PeopleOptions) => withEngines((engines) => exportPerson(engines, options)));
}
