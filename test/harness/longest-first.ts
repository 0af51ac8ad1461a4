import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, so that no worker begins with one of them when the other has nothing left to do. */
const LONGEST: readonly string[] = [
  'directory/indexer.test.ts',
  'directory/indexer-faults.test.ts',
  'directory/indexer-writes.test.ts',
  'money/ledger.test.ts',
  'local/embedded.test.ts',
  'local/image.test.ts',
  'clients/clients.test.ts',
  'api/exports.test.ts',
  'web-app/stores.test.ts',
  'local/server-start.test.ts',
  'local/cli.test.ts',
  'attribution/reconciling.test.ts',
  'webhooks/outcomes.test.ts',
  'money/oracle.test.ts',
  'money/ledger-comparison.test.ts',
  'local/manual.long.test.ts',
  'web-app/page-states.long.test.ts',
  'web-app/keyboard.long.test.ts',
  'local/chaos.long.test.ts',
  'money/oracle.long.test.ts',
  'local/sample-brand.long.test.ts',
  'web-app/pages.long.test.ts',
  'web-app/many-rows.long.test.ts',
  'cluster/elasticsearch.test.ts',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`));
  return at === -1 ? LONGEST.length : at;
};

/** Vitest's order, by size or by how long a file took last, is followed where this list says nothing. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...projects.values()].flatMap((some) => some.toSorted((a, b) => rankOf(a) - rankOf(b)));
  }
}
