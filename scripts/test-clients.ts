import { parseArgs } from 'node:util';
import { checkDescription } from '../test/clients/suite/check-description.ts';
import { checkExample } from '../test/clients/suite/check-example.ts';
import { checkLibrechat } from '../test/clients/suite/check-librechat.ts';
import { checkResponses } from '../test/clients/suite/check-responses.ts';
import { knownFailures } from '../test/clients/suite/known-failures.ts';
import { checkTable } from '../test/clients/suite/page.ts';
import { programs as allPrograms } from '../test/clients/suite/programs.ts';
import { runPrograms } from '../test/clients/suite/run-programs.ts';
import { runSnippets } from '../test/clients/suite/run-snippets.ts';
import { findMissing, prepareRunners } from '../test/clients/suite/runtimes.ts';
import { toTable } from '../test/clients/suite/table.ts';
import { Turns } from '../test/clients/suite/turns.ts';
import { findErrors } from '../test/clients/suite/verdict.ts';
import { startWorld } from '../test/clients/suite/world.ts';

const help = `Tests the service with clients in Python, Go, and Java, and runs the snippets of docs/clients.md. Checks /openapi.json with
linters and client generators.

  npm run test:clients                       all parts. Fails on unexpected ✗ cells, and if the table of the page is out of date
  npm run test:clients -- --write            the same, and writes the table to the page
  npm run test:clients -- --only NAME,NAME   some programs of test/clients/suite/programs.ts, or some parts: \`snippets\`,
                                             \`description\` (/openapi.json), \`example\` (examples/sdk-application),
                                             \`responses\` (clients of the Responses API), and \`librechat\`

Missing dependencies are installed below $XDG_CACHE_HOME (~/.cache).`;

const { values } = parseArgs({
  options: { write: { type: 'boolean', default: false }, only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
});

/** Runs the suite. Returns the errors, one per line. */
async function run(): Promise<readonly string[]> {
  const missing = await findMissing();
  if (missing.length > 0) return missing;
  const only = values.only?.split(',');
  const programs = allPrograms.filter(({ name }) => only === undefined || only.includes(name));
  const runners = await prepareRunners();
  await using world = await startWorld(runners['openai-two'].toSnippetCommand);
  const stage = { runners, world, turns: new Turns() };
  const isSelected = (part: string): boolean => only?.includes(part) ?? true;
  const [outcomes, ...otherErrors] = await Promise.all([
    runPrograms(programs, stage),
    isSelected('responses') ? checkResponses() : [],
    isSelected('librechat') ? checkLibrechat() : [],
    isSelected('description') ? checkDescription(stage) : [],
    isSelected('example') ? checkExample(stage) : [],
    isSelected('snippets') ? runSnippets(allPrograms, stage) : [],
  ]);
  const table = toTable(programs, outcomes);
  if (programs.length > 0) console.log(`${table}\n`);
  if (only !== undefined) return [...findErrors(outcomes, []), ...otherErrors.flat()];
  const cellErrors = findErrors(outcomes, knownFailures);
  const errors = [...cellErrors, ...otherErrors.flat()];
  console.log(`Cells: ${outcomes.filter(({ ok }) => ok).length} passed, ${cellErrors.length} failed`);
  const isTableCurrent = await checkTable(table, values.write);
  return isTableCurrent
    ? errors
    : [...errors, 'The table in docs/client-results.md is out of date. Update it with: npm run test:clients -- --write'];
}

if (values.help) console.log(help);
else {
  const errors = await run().catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
  for (const error of errors) console.error(`FAILED  ${error}`);
  process.exitCode = errors.length === 0 ? 0 : 1;
}
