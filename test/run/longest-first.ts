import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, so that no worker begins with one of them when the other has nothing left to do. */
const LONGEST: readonly string[] = [
  'directory/indexer.long.test.ts',
  'directory/indexer-faults.long.test.ts',
  'directory/indexer.test.ts',
  'directory/indexer-writes.test.ts',
  'affiliates/ledger.test.ts',
  'affiliates/ledger-edits.test.ts',
  'directory/lists.test.ts',
  'analytics/exports.test.ts',
  'interfaces/http/exports.test.ts',
  'platform/webhooks/outcomes.test.ts',
  'affiliates/oracle.test.ts',
  'affiliates/ledger-comparison.test.ts',
  'process/manual.long.test.ts',
  'interfaces/web-app/page-states.long.test.ts',
  'interfaces/web-app/keyboard.long.test.ts',
  'process/chaos.long.test.ts',
  'affiliates/oracle.long.test.ts',
  'process/image.long.test.ts',
  'interfaces/clients/clients.long.test.ts',
  'local/embedded.long.test.ts',
  'analytics/reconciling.long.test.ts',
  'local/sample-brand.long.test.ts',
  'local/demo-brand.long.test.ts',
  'interfaces/web-app/pages.long.test.ts',
  'interfaces/web-app/many-rows.long.test.ts',
  'interfaces/web-app/stores.long.test.ts',
  'process/server-start.long.test.ts',
  'cluster/elasticsearch.test.ts',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`));
  return at === -1 ? LONGEST.length : at;
};

/** The files of a project share workers, so one project follows another. The files with the longest tests come first. */
const PROJECTS = ['long', 'short', 'alone', 'cluster'];

/** Vitest's order, by size or by how long a file took last, is followed where this list says nothing. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return PROJECTS.flatMap((name) => (projects.get(name) ?? []).toSorted((a, b) => rankOf(a) - rankOf(b)));
  }
}
