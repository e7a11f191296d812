// The layers of src (CONTRIBUTING.md, Folders): a folder imports only itself and lower layers. The borders are one layer, and do not
// import each other.
const borders = 'surfaces|stores|upstreams|tools|identity|configuration|telemetry';
const layers = ['base', 'contract', 'domain', 'services', `(${borders})`, 'agent', 'pipeline', 'app'];

const upward = layers.slice(0, -1).map((layer, height) => ({
  name: `no-upward-import-from-${layer.replace(/[()]/g, '').replaceAll('|', '-')}`,
  comment: 'A folder imports only itself and lower layers. This includes types.',
  severity: 'error',
  from: { path: `^src/${layer}/`, pathNot: '\\.test\\.ts$' },
  to: { path: layers.slice(height + 1).map((higher) => `^src/${higher}/`) },
}));

/** Folders and files of one layer that do not import each other. */
const separateParts = [
  {
    name: 'borders-are-separate',
    severity: 'error',
    from: { path: `^src/(${borders})/` },
    to: { path: `^src/(${borders})/`, pathNot: '^src/$1/' },
  },
  {
    name: 'services-are-separate',
    severity: 'error',
    from: { path: '^src/services/([^/]+)/', pathNot: '\\.test\\.ts$' },
    to: { path: '^src/services/', pathNot: ['^src/services/$1/', '^src/services/node/'] },
  },
  {
    name: 'features-are-separate',
    comment: 'A feature is one file, which only the list of features imports.',
    severity: 'error',
    from: { path: '^src/', pathNot: ['^src/app/service/features\\.ts$', '\\.test\\.ts$'] },
    to: { path: '^src/app/features/' },
  },
  {
    name: 'features-are-in-their-folder',
    comment: 'The list of features imports each one from its file, and defines none.',
    severity: 'error',
    from: { path: '^src/app/service/features\\.ts$' },
    to: {
      path: '^src/',
      pathNot: [
        ...['^src/app/features/[^/]+$', '^src/app/service/feature\\.ts$', '^src/contract/'],
        ...['^src/surfaces/http/openapi/', '^src/surfaces/ops/openapi\\.ts$'],
      ],
    },
  },
  {
    name: 'folders-inside-a-border-are-separate',
    comment: 'Folders inside a border share only surfaces/http, tools/authorization, and upstreams/prompt.',
    severity: 'error',
    from: { path: '^src/(surfaces|stores|upstreams|tools|identity)/([^/]+)/', pathNot: '\\.test\\.ts$' },
    to: {
      path: '^src/(surfaces|stores|upstreams|tools|identity)/[^/]+/',
      pathNot: ['^src/$1/$2/', '^src/surfaces/http/', '^src/tools/authorization/', '^src/upstreams/prompt/'],
    },
  },
];

/** Folders that may import an npm package. */
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
const ownership = Object.entries(owners).map(([name, folders]) => ({
  name: `owner-of-${name.replace(/[^a-z]+/g, '-')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: [`^src/(${folders})[/.]`, '\\.test\\.ts$'] },
  to: { path: `node_modules/(${name})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'surfaces-do-not-import-the-pipeline',
      severity: 'error',
      from: { path: '^src/surfaces/' },
      to: { path: '^src/(pipeline|agent)/' },
    },
    {
      name: 'web-imports-only-contract-and-base',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^(src|test)/', pathNot: '^src/(base|contract)/' },
    },
    { name: 'src-does-not-import-web', severity: 'error', from: { path: '^src/' }, to: { path: '^web/' } },
    ...upward,
    ...separateParts,
    ...ownership,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
