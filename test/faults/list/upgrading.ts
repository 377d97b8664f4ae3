import type { Fault } from '../fault.js';

const views = 'src/view/sample.ts';
const viewTests = ['test/view/client-views.test.ts'];
const trial = ['test/upgrade/application.trial.ts'];
const versions = ['test/writes/schema-version.test.ts'];

export const upgrading: readonly Fault[] = [
  {
    name: 'clients of each schema version have all views',
    file: views,
    find: 'schemaVersions === undefined || schemaVersions.includes(input.schemaVersion)',
    replace: 'schemaVersions === undefined || schemaVersions.length > 0',
    tests: trial,
  },
  {
    name: 'a sample has no views of some schema versions only',
    file: views,
    find: 'input instanceof SampleInput || schemaVersions === undefined',
    replace: 'schemaVersions === undefined',
    tests: viewTests,
  },
  {
    name: 'a view of other schema versions is tried with the first one that is served',
    file: views,
    find: '|| first === undefined) return input',
    replace: '|| first !== undefined) return input',
    tests: viewTests,
  },
  {
    name: 'a mutator that runs alone does not know the schema version',
    file: 'src/writes/apply-once.ts',
    find: 'ctx: context, profileID, schemaVersion }',
    replace: 'ctx: context, profileID }',
    tests: versions,
  },
  {
    name: 'mutators that share a transaction do not know the schema version',
    file: 'src/writes/apply-together.ts',
    find: 'ctx: context, profileID, schemaVersion }',
    replace: 'ctx: context, profileID }',
    tests: versions,
  },
  {
    name: 'mutators that share a transaction do not know the browser profile',
    file: 'src/writes/apply-together.ts',
    find: 'ctx: context, profileID, schemaVersion }',
    replace: 'ctx: context, schemaVersion }',
    tests: versions,
  },
  {
    name: 'a refusal is dismissed for every profile of its user',
    file: 'src/store/refusals.ts',
    find: 'where user_id = $1 and profile_id = $2 and client_id = $3 and mutation_id = $4`;',
    replace: 'where user_id = $1 and $2::text is not null and client_id = $3 and mutation_id = $4`;',
    tests: ['test/writes/dismissed.test.ts'],
  },
  {
    name: 'a server applies pushes of a schema version that it does not serve',
    file: 'src/writes/pushed-group.ts',
    find: 'return schemaVersions === undefined ||',
    replace: 'return schemaVersions !== null ||',
    tests: trial,
  },
  {
    name: 'pulls are counted for any schema version',
    file: 'src/engine.ts',
    find: "? request.schemaVersion : 'other'",
    replace: '? request.schemaVersion : request.schemaVersion',
    tests: ['test/telemetry/metrics.test.ts'],
  },
];
