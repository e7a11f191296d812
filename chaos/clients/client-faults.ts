import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireErrorShape } from '#test/sane-answer.ts';
import { callerKey } from '#test/start-service.ts';
import { hasTime, type Scenario } from '../scenario.ts';
import { call } from '../support/call.ts';
import { calmConfiguration, startCalmUpstream } from '../support/calm-upstream.ts';
import { eachConcurrently } from '../support/each-concurrently.ts';
import { type ReadAnswer, readAnswers } from '../support/read-answers.ts';
import { requireSettled, startWatched } from '../support/watched-node.ts';
import type { Tally } from '../tally.ts';
import { type CallerCase, callerCases, type Move } from './cases.ts';

const maxConcurrentCallers = 12;
const maxMs = 15_000;
/** Silence in milliseconds after which the output counts as complete. */
const quietMs = 400;

/** Clients that disconnect, send slowly, do not read, or send invalid requests. */
export const clientFaults: Scenario = {
  name: 'clients',
  title: 'Clients that disconnect, send slowly, smuggle, and do not read',
  weight: 2,
  async run(ground) {
    const { tally, random, isShort, match } = ground;
    await using upstream = await startCalmUpstream();
    await using node = await startWatched({ configuration: calmConfiguration(upstream.url) });
    for (let index = 0; index < 20; index += 1)
      await call(node.url, { deployment: 'free', isStream: index % 2 === 0, isMessages: false });
    const before = await node.collectAndRead();
    const cases = callerCases({ key: callerKey }).filter(({ name }) => name.includes(match));
    tally.count('kinds', cases.length);
    do {
      const shuffled = cases.map((item) => [random.next(), item] as const).sort(([left], [right]) => left - right);
      await eachConcurrently(shuffled, maxConcurrentCallers, ([, item]) => runCase(node.url, item, tally));
    } while (!isShort && hasTime(ground));
    const calmly = await call(node.url, { deployment: 'free', isStream: false, isMessages: false });
    tally.require(calmly.status === 200, () => `afterwards a good caller is answered with ${calmly.status}`);
    await requireSettled(node, before, tally);
    await sleep(200);
    tally.peak('upstream connections left', upstream.open());
  },
};

async function runCase(url: string, callerCase: CallerCase, tally: Tally): Promise<void> {
  tally.count('clients');
  const beganMs = performance.now();
  const output = await converse(Number(new URL(url).port), callerCase);
  tally.peak('longest ms', Math.round(performance.now() - beganMs));
  if (output === undefined) return tally.addFault(`${callerCase.name}: it hangs`);
  try {
    const answers = readAnswers(output);
    tally.count('answers', answers.length);
    judge(callerCase, answers);
  } catch (error) {
    tally.addFault(`${callerCase.name}: ${error instanceof Error ? error.message : error}`);
  }
}

function judge({ answers, mayEnd }: CallerCase, received: readonly ReadAnswer[]): void {
  if (received.length > answers.length && answers.length > 0)
    throw new Error(
      `${received.length} answers where ${answers.length} may come: ${received.map(({ status }) => status).join(', ')}`,
    );
  if (received.length < answers.length && !mayEnd) throw new Error(`${received.length} answers of ${answers.length}`);
  for (const [index, { status, isWhole, body, isJson }] of received.entries()) {
    const allowed = answers[index] ?? [];
    if (status >= 500 || (allowed.length > 0 && !allowed.includes(status)))
      throw new Error(`answer ${index} is ${status} ${body.slice(0, 200)}`);
    if (answers.length > 0 && !isWhole) throw new Error(`answer ${index} is cut off: ${body.slice(-200)}`);
    if (status >= 400 && isJson) requireErrorShape(body);
  }
}

/** Makes the moves. Returns the output until the connection ends or is silent, or undefined if the output takes too long. */
async function converse(port: number, { moves, answers }: CallerCase): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1').setNoDelay(true);
  let output = '';
  let lastMs = performance.now();
  let isClosed = false;
  socket.on('data', (piece) => {
    output += String(piece);
    lastMs = performance.now();
  });
  socket
    .on('error', () => undefined)
    .on('end', () => socket.end())
    .on('close', () => {
      isClosed = true;
    });
  for (const move of moves) await make(socket, move);
  lastMs = performance.now();
  const endMs = lastMs + maxMs;
  const isDone = (): boolean => {
    if (isClosed) return true;
    const isQuiet = performance.now() - lastMs > quietMs;
    return isQuiet && readAnswers(output).filter(({ isWhole }) => isWhole).length >= answers.length;
  };
  while (!isDone() && performance.now() < endMs) await sleep(20);
  const isLate = !isDone();
  socket.destroy();
  return isLate ? undefined : output;
}

async function make(socket: Socket, move: Move): Promise<void> {
  if (socket.destroyed) return;
  if (typeof move === 'string' || Buffer.isBuffer(move)) return void socket.write(move, 'latin1');
  switch (move.kind) {
    case 'wait':
      return sleep(move.ms);
    case 'drip':
      for (let index = 0; index < move.times && !socket.destroyed; index += 1) {
        socket.write(move.text);
        await sleep(move.everyMs);
      }
      return;
    case 'half-close':
      return void socket.end();
    case 'deaf':
      socket.pause();
      await sleep(move.ms);
      return void socket.resume();
    case 'leave':
      return void socket.destroy();
    case 'reset':
      return void socket.resetAndDestroy();
  }
}
