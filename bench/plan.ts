/**
 * Plans the size of an installation from the measured costs in `bench/capacity/costs.json`:
 * `npm run plan -- --calls-per-second 20000 --streams 200000`.
 */
import { parseArgs } from 'node:util';
import { addWork, computeWork, type Kind, kinds, type Load, readCosts, type StorageCosts, type Work } from './capacity/costs.ts';

const help = `npm run plan -- [options]

Prints the nodes, cores, memory, and the load of Redis and PostgreSQL for a load.

  --calls-per-second N    calls without streaming, or of --kind (default: 0)
  --kind KIND             ${kinds.join(', ')} (default: unary)
  --streams N             open streams of chat completions (default: 0)
  --chunks-per-second N   chunks of each stream (default: 20)
  --stream-seconds N      average duration of a stream (default: 30)
  --storage STORAGE       embedded (SQLite, one node) or shared (PostgreSQL and Redis, the default)
  --workers N             workers of a node, one per core (default: 4)
  --utilization N         planned use of a core, from 0 to 1 (default: 0.6)
  --table                 print the measured costs as a Markdown table
  --factor N              CPU cost on your machine relative to the measured one (default: 1)
`;

/** Share of its one core at which Redis becomes a bottleneck. */
const maxRedisUse = 0.7;
const secondsPerDay = 86_400;

function readArguments() {
  try {
    return parseArgs({
      options: {
        'calls-per-second': { type: 'string', default: '0' },
        kind: { type: 'string', default: 'unary' },
        streams: { type: 'string', default: '0' },
        'chunks-per-second': { type: 'string', default: '20' },
        'stream-seconds': { type: 'string', default: '30' },
        storage: { type: 'string', default: 'shared' },
        workers: { type: 'string', default: '4' },
        utilization: { type: 'string', default: '0.6' },
        factor: { type: 'string', default: '1' },
        table: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
}

const values = readArguments();

function readNumber(name: Exclude<keyof typeof values, 'help' | 'table' | 'kind' | 'storage'>, min: number): number {
  const value = Number(values[name]);
  if (Number.isFinite(value) && value >= min) return value;
  console.error(`--${name} must be a number of at least ${min}\n\n${help}`);
  process.exit(2);
}

function requireOneOf<Value extends string>(name: 'kind' | 'storage', options: readonly Value[]): Value {
  const value = options.find((option) => option === values[name]);
  if (value !== undefined) return value;
  console.error(`--${name} must be one of ${options.join(', ')}\n\n${help}`);
  process.exit(2);
}

function plan(): readonly string[] {
  const table = readCosts();
  const load: Load = {
    kind: requireOneOf<Kind>('kind', kinds),
    callsPerSecond: readNumber('calls-per-second', 0),
    streams: readNumber('streams', 0),
    chunksPerSecond: readNumber('chunks-per-second', 0),
    streamSeconds: readNumber('stream-seconds', 1),
    storage: requireOneOf('storage', ['embedded', 'shared']),
  };
  const workersPerNode = readNumber('workers', 1);
  const utilization = Math.min(1, readNumber('utilization', 0.05));
  const factor = readNumber('factor', 0.01);
  const { busyBytes, streamBytes, idleSecond } = table[load.storage];
  const callWork = computeWork(table, load);
  const workers = Math.max(1, Math.ceil((callWork.nodeMicros * factor) / 1e6 / utilization));
  const work = addWork(callWork, idleSecond, workers);
  const cores = (work.nodeMicros * factor) / 1e6;
  const nodes = Math.ceil(workers / workersPerNode);
  const perNode = Math.min(workersPerNode, workers);
  const bytes = workers * busyBytes + load.streams * streamBytes;
  const { measured } = table;
  const lines = [
    `Costs measured on ${measured.date}: ${measured.machine}, Node ${measured.node}`,
    '',
    `CPU of the workers    ${format(cores)} cores`,
    `Workers               ${workers} at ${Math.round(utilization * 100)} % of a core`,
    `Nodes                 ${nodes} with ${perNode === 1 ? '1 worker and 1 core' : `${perNode} workers and ${perNode} cores`}`,
    `Memory                ${format(bytes / 1e9)} GB, ${format(bytes / nodes / 1e9)} GB a node, including streams with ${format((load.streams * streamBytes) / 1e9)} GB`,
  ];
  if (load.storage === 'embedded') {
    if (nodes > 1) lines.push('', 'One node does not suffice. Use --storage shared.');
    return lines;
  }
  const redisCores = (work.redisMicros * factor) / 1e6;
  const walPerDay = (work.walBytes * secondsPerDay) / 1e9;
  return [
    ...lines,
    `Redis                 ${format(work.redisCommands)} commands/s, ${format(redisCores)} cores`,
    `PostgreSQL            ${format(work.sqlTransactions)} transactions/s, ${format((work.sqlMicros * factor) / 1e6)} cores, ${format(work.walBytes / 1e6)} MB/s of WAL (${format(walPerDay)} GB a day)`,
    `Connections           up to ${workers * 11} to PostgreSQL. Above a few hundred, use PgBouncer`,
    ...(redisCores > maxRedisUse
      ? [
          '',
          'One primary of Redis serves all limits with one core, and is too slow for this load. Callers without limits do not use it.',
        ]
      : []),
  ];
}

function format(value: number): string {
  if (value >= 99.5) return Math.round(value).toLocaleString('en');
  return value < 0.005 ? '0' : String(Number(value.toPrecision(2)));
}

/** Returns the costs as a Markdown table. */
function toTable(): readonly string[] {
  const { embedded, shared } = readCosts();
  const toRow = (title: string, select: (costs: StorageCosts) => Work): string => {
    const [alone, split] = [select(embedded), select(shared)];
    const cells = [
      ...[alone.nodeMicros, split.nodeMicros, split.redisCommands, split.redisMicros, split.sqlTransactions, split.sqlMicros],
      split.walBytes,
    ];
    return `| ${title} | ${cells.map(format).join(' | ')} |`;
  };
  const toMegabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
  const toKilobytes = (bytes: number): string => `${Math.round(bytes / 1e3)} kB`;
  const title =
    'CPU with SQLite, µs | CPU with PostgreSQL and Redis, µs | Redis commands | Redis, µs | SQL transactions | PostgreSQL, µs | WAL, bytes';
  return [
    `| | ${title} |`,
    `|---${'|---:'.repeat(7)}|`,
    ...kinds.map((kind) => toRow(kind, ({ calls }) => calls[kind])),
    toRow('unary without limits', ({ unlimitedCall }) => unlimitedCall),
    toRow('chunk of a paced stream', ({ pacedChunk }) => pacedChunk),
    toRow('chunk in a burst', ({ burstChunk }) => burstChunk),
    toRow('idle node, each second', ({ idleSecond }) => idleSecond),
    '',
    '| Memory | SQLite | PostgreSQL and Redis |',
    '|---|---:|---:|',
    `| idle node | ${toMegabytes(embedded.idleBytes)} | ${toMegabytes(shared.idleBytes)} |`,
    `| node under load | ${toMegabytes(embedded.busyBytes)} | ${toMegabytes(shared.busyBytes)} |`,
    `| open stream | ${toKilobytes(embedded.streamBytes)} | ${toKilobytes(shared.streamBytes)} |`,
  ];
}

if (values.help) console.info(help);
else if (values.table) for (const line of toTable()) console.info(line);
else for (const line of plan()) console.info(line);
