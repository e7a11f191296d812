import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAccessibility } from './web/accessibility.ts';
import { measureArrival, measureOpening, measureStream } from './web/conversations.ts';
import { type Figure, isMet, toTable } from './web/figure.ts';
import { measureFirstLoad } from './web/first-load.ts';
import { measureList, measurePostgres, measureSqlite } from './web/lists.ts';
import { startWebWorld, type WebWorld } from './web/world.ts';

/** Measurements of the page in Chromium of Debian. */
const parts: Readonly<Record<string, (world: WebWorld) => Promise<readonly Figure[]>>> = {
  load: measureFirstLoad,
  stream: measureStream,
  open: measureOpening,
  arrival: measureArrival,
  list: measureList,
  sqlite: measureSqlite,
  postgres: measurePostgres,
  axe: measureAccessibility,
};

const help = `npm run bench:web -- [options]

Starts the built service with a demo configuration, opens its page in Debian's Chromium (apt-get install
chromium-headless-shell), and prints each goal with the measured value.

  --only NAME   one or more parts, separated by commas: ${Object.keys(parts).join(', ')}
  --write FILE  also writes the table to a file
  --help        prints this text

Measure on a quiet machine. Exits with 1 if a goal is missed.
`;

const { values: flags } = parseArgs({
  options: { only: { type: 'string' }, write: { type: 'string' }, help: { type: 'boolean', default: false } },
});

async function measureAll(names: readonly string[]): Promise<void> {
  await using world = await startWebWorld();
  const figures: Figure[] = [];
  for (const name of names) figures.push(...((await parts[name]?.(world)) ?? []));
  const { model = 'unknown processor' } = cpus()[0] ?? {};
  const table = `${model}, ${cpus().length} cores, Node ${process.version}\n\n${toTable(figures)}\n`;
  console.info(table);
  if (flags.write !== undefined) writeFileSync(flags.write, table);
  if (!figures.every(isMet)) process.exitCode = 1;
}

const names = flags.only?.split(',') ?? Object.keys(parts);
const unknown = names.find((name) => !(name in parts));
if (flags.help) console.info(help);
else if (unknown !== undefined) {
  console.error(`'${unknown}' is not one of: ${Object.keys(parts).join(', ')}`);
  process.exitCode = 1;
} else await measureAll(names);
