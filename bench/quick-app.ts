/**
 * Measures the cost of a quick app: the loop alone in memory, and 200 concurrent runs of an app with three paced tools on a
 * separate Parley on one core. `node bench/quick-app.ts` prints the result to stderr. `--json` prints the values to stdout for
 * the harness.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runLoop } from '#agent/loop.ts';
import type { RunMemory } from '#agent/loop-options.ts';
import { RunStates } from '#agent/quick-app/run-state.ts';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Tool } from '#domain/tools/tool.ts';
import { answers, calls, scriptedModel } from '#test/scripted-model.ts';
import { defaultToolSettings } from '#test/tool-settings.ts';
import { toParleyCommand } from './contenders.ts';
import { readUsage } from './measure.ts';
import { contenderCore, findFreePort, loadCore, ProcessGroup, pinRunner, waitForReply } from './processes.ts';
import { startWorld, toKey, toolPaces, toolTurns, type World } from './quick-app-world.ts';

const maxConcurrentRuns = 200;
const rampMs = 2_000;
const inTimeMs = 100;
const memoryRuns = 2_000;
const rounds = 3;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const toolNames = toolPaces.map(([name]) => name);

const seal = new Seal([new Secret('a secret of this measurement')]);
const states = new RunStates({
  sign: (text) => seal.sign(text, 'bench'),
  verify: (text, mark) => seal.verify(text, mark, 'bench'),
});
const owner = { subject: 'key:bench', application: 'app' };
const tools: Tool[] = toolNames.map((name) => ({
  ...{ name, description: 'Works.', parameters: { type: 'object' } },
  run: () => Promise.resolve({ text: 'x'.repeat(1_000), attachments: [], failed: false }),
}));

/** Runs turns of a model without an upstream and with tools that return immediately. Only the cost of the loop remains. */
async function runInMemory(): Promise<void> {
  const turn = calls(...toolNames.map((name) => [name, { text: 'something' }] as const));
  const { sendRequest } = scriptedModel(...Array(toolTurns).fill(turn), answers('Done.'));
  const toState = (memory: RunMemory) => states.write({ ...memory, results: {} }, owner);
  const options = {
    request: { messages: [] },
    tools,
    model: 'm',
    id: 'r',
    clock: systemClock,
    signal: new AbortController().signal,
    ...defaultToolSettings,
  };
  for await (const _frame of runLoop({ ...options, sendRequest, buildState: toState }));
}

/** Returns microseconds of CPU time per turn of the best round. */
async function measureLoop(): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    for (let index = 0; index < memoryRuns; index += 1) await runInMemory();
    const { user, system } = process.cpuUsage(before);
    if (round > 0) best = Math.min(best, (user + system) / memoryRuns / (toolTurns + 1));
  }
  return best;
}

function toConfiguration({ url }: World): object {
  const parameters = { type: 'object', properties: { run: { type: 'string' }, turn: { type: 'string' } } };
  const toTool = (name: string): object => ({
    rest_api_method_info: { method_url: `${url}/tool/${name}`, method_type: 'get' },
    open_ai_tool: { type: 'function', function: { name, description: 'Works.', parameters } },
  });
  const properties = {
    ...{ temperature: 0, instructions: 'Use the tools.', model: 'model' },
    web_api_toolset: [{ type: 'rest-api', name: 'API', tools: toolNames.map(toTool) }],
  };
  return {
    models: { model: { upstreams: [{ endpoint: `${url}/v1` }] } },
    applications: {
      app: { applicationTypeSchemaId: 'https://bench/custom_application_schemas/quickapps', applicationProperties: properties },
    },
    keys: { 'bench-key': { project: 'bench' } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}

/** Milliseconds between each tool response and the event that closes its stage. */
interface Seen {
  readonly delaysMs: number[];
  answered: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: maxConcurrentRuns });

async function sendRequest(port: number, deployment: string, content: string, onEvent: (event: string) => void): Promise<void> {
  const path = `/openai/deployments/${deployment}/chat/completions`;
  const headers = { 'api-key': 'bench-key', 'content-type': 'application/json' };
  await new Promise<void>((resolve, reject) => {
    const clientRequest = request({ port, method: 'POST', path, headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a run returned ${response.statusCode}`));
      createInterface({ input: response }).on('line', onEvent).once('close', resolve);
    });
    clientRequest.on('error', reject).end(JSON.stringify({ stream: true, messages: [{ role: 'user', content }] }));
  });
}

async function runApp(port: number, index: number, { world, seen }: { world: World; seen: Seen }): Promise<void> {
  const run = `${index}`;
  await sendRequest(port, 'app', run, (event) => {
    if (event.includes('"finish_reason":"stop"')) seen.answered += 1;
    if (!event.includes('"status":"completed"')) return;
    const stage = Number(/"index":(\d+),"content"/.exec(event)?.[1]);
    const key = toKey(run, Math.floor(stage / toolNames.length), toolNames[stage % toolNames.length] ?? '');
    seen.delaysMs.push(performance.now() - (world.answeredAtMs.get(key) ?? Number.NEGATIVE_INFINITY));
  });
}

async function runAll(port: number, world: World, name: string): Promise<Seen> {
  const seen: Seen = { delaysMs: [], answered: 0 };
  const starts = Array.from({ length: maxConcurrentRuns }, async (_each, index) => {
    await sleep((index * rampMs) / maxConcurrentRuns);
    await runApp(port, Number(`${name}${index}`), { world, seen });
  });
  await Promise.all(starts);
  return seen;
}

type Values = Record<'turnMicros' | 'callMicros' | 'inTime' | 'delayP50' | 'delayP99' | 'answered' | 'coreUsed', number>;

async function measureRuns(): Promise<Values> {
  const world = await startWorld();
  const folder = mkdtempSync(join(tmpdir(), 'parley-quick-app-'));
  const [configPath, logPath, port] = [join(folder, 'parley.json'), join(folder, 'output.log'), await findFreePort()];
  writeFileSync(configPath, JSON.stringify(toConfiguration(world)));
  const command = toParleyCommand(root, [
    'serve',
    '--config',
    configPath,
    '--port',
    String(port),
    '--data',
    join(folder, 'data'),
  ]);
  const processes = new ProcessGroup(0);
  const child = processes.start({ ...command, core: contenderCore, logPath });
  try {
    await waitForReply('parley', child, `http://127.0.0.1:${port}/ready`, logPath);
    const cpuMicros = (): number => readUsage(child.pid ?? 0).cpuMicros;
    await runAll(port, world, '1');
    const [startedMicros, startedMs] = [cpuMicros(), performance.now()];
    const { delaysMs, answered } = await runAll(port, world, '2');
    const usedMicros = cpuMicros() - startedMicros;
    const passedMs = performance.now() - startedMs;
    const callMicros = await measureCalls(port, cpuMicros);
    const sorted = delaysMs.toSorted((left, right) => left - right);
    const due = maxConcurrentRuns * toolTurns * toolNames.length;
    return {
      turnMicros: usedMicros / maxConcurrentRuns / (toolTurns + 1),
      callMicros,
      inTime: (100 * sorted.filter((ms) => ms <= inTimeMs).length) / due,
      delayP50: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
      delayP99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
      answered: (100 * answered) / maxConcurrentRuns,
      coreUsed: (100 * usedMicros) / 1000 / passedMs,
    };
  } finally {
    await processes.stopAll();
    world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures the cost of the same model calls without an app. */
async function measureCalls(port: number, cpuMicros: () => number): Promise<number> {
  const before = cpuMicros();
  const calls = Array.from({ length: maxConcurrentRuns }, async () => {
    for (let index = 0; index <= toolTurns; index += 1) await sendRequest(port, 'model', 'hello', () => undefined);
  });
  await Promise.all(calls);
  return (cpuMicros() - before) / maxConcurrentRuns / (toolTurns + 1);
}

pinRunner();
const loopMicros = await measureLoop();
const values = { loopMicros, ...(await measureRuns()) };
agent.destroy();

const lines: readonly (readonly [what: string, value: number, unit: string])[] = [
  ['the loop alone, with three tools and a signed state', values.loopMicros, 'µs CPU a turn'],
  [
    `a turn with three REST calls, ${maxConcurrentRuns} concurrent runs on core ${contenderCore}, called from core ${loadCore}`,
    values.turnMicros,
    'µs CPU',
  ],
  ['a call of the model without an app', values.callMicros, 'µs CPU'],
  [`stages closed within ${inTimeMs} ms of their tool's answer`, values.inTime, '%'],
  ['from the answer of a tool to its closed stage, p50', values.delayP50, 'ms'],
  ['the same, p99', values.delayP99, 'ms'],
  ['runs that came to an answer', values.answered, '%'],
  ['of the core used', values.coreUsed, '%'],
];
for (const [what, value, unit] of lines) console.error(`${what.padEnd(86)} ${value.toFixed(1).padStart(10)} ${unit}`);
if (process.argv.includes('--json')) console.log(JSON.stringify(values));
process.exit();
