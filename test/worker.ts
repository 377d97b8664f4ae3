/** Before each test file: says which Postgres it has. */
const clusters = process.env.TIDEMARK_TEST_CLUSTERS!.split(' ');
process.env.TIDEMARK_TEST_CLUSTER = clusters[Number(process.env.VITEST_POOL_ID) % clusters.length]!;
