/** A process that owns a stack, for a test to kill: `node stack-parent.ts <data name> <engine>…`. Sends its URLs and pids. */
import { z } from 'zod';
import { readConfig } from '../../../src/config.ts';
import { ENGINE_NAMES } from '../../../src/local/engines/engine.ts';
import { startEmbedded } from '../../../src/local/engines/start.ts';
import { ENGINE_PATIENCE } from '../kit/own-engines.ts';

const [dataName, ...names] = process.argv.slice(2);
if (!dataName) throw new Error('Usage: node stack-parent.ts <data name> <engine>…');
const only = z.array(z.enum(ENGINE_NAMES)).parse(names);
const { directory, java } = readConfig();
const how = { elasticsearchHeapMb: 512, java, patience: ENGINE_PATIENCE };
const report = (line: string) => process.stderr.write(`${line}\n`);
const engines = await startEmbedded({ directory, dataName, only, ...how, report });
process.send?.({ urls: engines.urls, pids: engines.pids });
