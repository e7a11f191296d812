// The floors of the house: a room imports itself and anything below, never a neighbour, never up (docs/straight-line.md).
const borders = 'surfaces|stores|upstreams|tools|identity|configuration|telemetry';
const floors = ['base', 'contract', 'domain', 'services', `(${borders})`, 'agent', 'pipeline', 'app'];

const upward = floors.slice(0, -1).map((floor, height) => ({
  name: `no-way-up-from-${floor.replace(/[()]/g, '').replaceAll('|', '-')}`,
  comment: 'A room imports only itself and lower floors, types included.',
  severity: 'error',
  from: { path: `^src/${floor}/`, pathNot: '\\.test\\.ts$' },
  to: { path: floors.slice(height + 1).map((higher) => `^src/${higher}/`) },
}));

/** Rooms on one floor and the folders inside them that are strangers to each other. */
const strangers = [
  {
    name: 'rooms-of-one-floor-are-strangers',
    severity: 'error',
    from: { path: `^src/(${borders})/` },
    to: { path: `^src/(${borders})/`, pathNot: '^src/$1/' },
  },
  {
    name: 'services-are-strangers',
    severity: 'error',
    from: { path: '^src/services/([^/]+)/', pathNot: '\\.test\\.ts$' },
    to: { path: '^src/services/', pathNot: ['^src/services/$1/', '^src/services/node/'] },
  },
  {
    name: 'siblings-are-strangers',
    comment:
      'Inside surfaces, stores, upstreams, tools and identity, but for surfaces/http, tools/authorization and upstreams/prompt.',
    severity: 'error',
    from: { path: '^src/(surfaces|stores|upstreams|tools|identity)/([^/]+)/', pathNot: '\\.test\\.ts$' },
    to: {
      path: '^src/(surfaces|stores|upstreams|tools|identity)/[^/]+/',
      pathNot: ['^src/$1/$2/', '^src/surfaces/http/', '^src/tools/authorization/', '^src/upstreams/prompt/'],
    },
  },
];

/** Each npm package has one owner room. */
const owners = {
  fastify: 'surfaces|app',
  undici: 'base',
  '@scalar/fastify-api-reference|@fastify/swagger': 'surfaces/ops|app',
  '@scalar/openapi-parser': 'tools/openapi',
  'ipaddr\\.js': 'base|contract/configuration',
  pino: 'telemetry',
  chokidar: 'configuration|app',
  citty: 'app',
  yaml: 'configuration|tools/openapi',
  'jsonc-parser': 'configuration',
  '@opentelemetry/[^/]+': 'telemetry',
  '@lat\\.md/[^/]+': 'base/embedding',
  'gpt-tokenizer': 'base|upstreams/demo',
  'ajv|ajv-formats': 'contract',
  ioredis: 'stores/redis',
  'unpdf|mammoth|linkedom|@e965/xlsx|fflate': 'tools/retrieval',
  '@aws-sdk/[^/]+': 'stores/files',
  'kysely|pg': 'stores/sql',
  re2js: 'base/text/patterns',
  jose: 'identity',
  '@ai-sdk/[^/]+': 'upstreams/ai-sdk',
  '@modelcontextprotocol/[^/]+': 'tools/mcp',
};
const ownership = Object.entries(owners).map(([name, rooms]) => ({
  name: `owner-of-${name.replace(/[^a-z]+/g, '-')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: [`^src/(${rooms})[/.]`, '\\.test\\.ts$'] },
  to: { path: `node_modules/(${name})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'surfaces-do-not-know-the-pipeline',
      severity: 'error',
      from: { path: '^src/surfaces/' },
      to: { path: '^src/(pipeline|agent)/' },
    },
    {
      name: 'web-sees-contract-and-base',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^(src|test)/', pathNot: '^src/(base|contract)/' },
    },
    { name: 'nobody-sees-web', severity: 'error', from: { path: '^src/' }, to: { path: '^web/' } },
    ...upward,
    ...strangers,
    ...ownership,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
