import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../../../src/kit/values/wire.ts';

const FOLDER = 'test/fixtures/agent-tasks';

/** One exchange of a transcript: a tool that the agent calls, or a request that a person makes. */
export interface Turn {
  kind: 'tool' | 'person';
  /** The tool, or the method and path. */
  name: string;
  args: string;
  isRefused: boolean;
  /** What the answer has at least. */
  has: unknown;
}

export interface Task {
  name: string;
  key: 'brand' | 'data';
  turns: Turn[];
}

const EXCHANGE = /^(?:→ (?<tool>\w+)|Person (?<request>\w+ \S+)) (?<args>\{.*\})\n(?<sign>[←✗]) (?<has>.+)$/gm;

/** The ten tasks, in the order in which they are done. */
export async function readTranscripts(): Promise<Task[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.txt')).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(FOLDER, name), 'utf8');
      const turns = [...text.matchAll(EXCHANGE)].map(({ groups = {} }): Turn => {
        const { tool, request = '', args = '', sign, has = '' } = groups;
        const kind = tool === undefined ? 'person' : 'tool';
        return { kind, name: tool ?? request, args, isRefused: sign === '✗', has: JSON.parse(has) };
      });
      const exchanges = text.match(/^(?:→|Person) /gm)?.length ?? 0;
      if (exchanges !== turns.length) throw new Error(`${name} has an exchange that cannot be read.`);
      return { name, key: /^With {3}the data key$/m.test(text) ? 'data' : 'brand', turns };
    }),
  );
}

/** Puts the values that answers gave to `$names` into a text. */
export const withValues = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(/\$(\w+)/g, (name) => values.get(name) ?? name);

/**
 * True if an answer has at least what the transcript shows. A text `$name` takes the answer's value the first time, and
 * is that value from then on; a list has the shown items in their order, others may stand between them.
 */
export function contains(answer: unknown, shown: unknown, values: Map<string, string>): boolean {
  if (typeof shown === 'string' && shown.startsWith('$')) {
    if (typeof answer !== 'string') return false;
    const known = values.get(shown) ?? answer;
    values.set(shown, known);
    return known === answer;
  }
  if (Array.isArray(shown)) {
    if (!Array.isArray(answer) || (shown.length === 0 && answer.length > 0)) return false;
    let from = 0;
    return shown.every((one) => {
      const at = answer.findIndex((item, i) => i >= from && contains(item, one, values));
      from = at + 1;
      return at >= 0;
    });
  }
  if (!isRecord(shown)) return answer === shown;
  return isRecord(answer) && Object.entries(shown).every(([name, one]) => contains(answer[name], one, values));
}
