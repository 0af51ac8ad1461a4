import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../src/config.ts';
import { openParts } from '../../../src/kit/outbox/parts.ts';
import { type Consumer, openRelay } from '../../../src/kit/outbox/relay.ts';
import { openDue } from '../../../src/kit/values/due.ts';
import { ignoreFailure } from '../../../src/kit/values/errors.ts';
import { configuredUrls } from '../../../src/process/engine-urls.ts';
import { openContext } from '../../../src/process/open-context.ts';

/**
 * The worker's relay as a process that a test may kill; it hands each event to the server of its first argument. With
 * `parts` as the second, it relays only the parts that it holds.
 */
const [, , witness = '', sharing = ''] = process.argv;
const config = readConfig();
const { context } = openContext(config, configuredUrls(config));
const consumer: Consumer = {
  name: 'witness',
  deliver: async (events) => {
    for (const { brandId, seq } of events) {
      const answer = await fetch(witness, { method: 'POST', body: JSON.stringify({ brandId, seq }) });
      if (!answer.ok) throw new Error(`The witness answered ${answer.status}.`);
    }
  },
};
const { db } = context.postgres;
const parts = sharing === 'parts' ? openParts(db) : undefined;
const pass = openRelay({ db, consumer, log: context.log, due: openDue(context.clock), parts });
process.stderr.write('relay started\n');
for (;;) {
  await pass().catch(ignoreFailure('the next pass tries again, as that of a worker does'));
  await sleep(20);
}
