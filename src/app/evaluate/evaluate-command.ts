import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { EvaluateFlags } from './evaluate-flags.ts';
import { EvaluationClient, type EvaluationWithResults, type ToldComparison } from './evaluation-client.ts';
import { EvaluateFault, readCases } from './read-cases.ts';
import { toJsonReport, toJunit, toLines } from './reports.ts';

/** What the command works with. */
export interface EvaluateDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether somebody looks at stderr. */
  readonly isTerminal: boolean;
  readonly tell: (text: string) => void;
  readonly show: (line: string) => void;
  /** Called with what is to happen if the user breaks off. */
  readonly onBreak: (leave: () => Promise<void>) => void;
}

const lookMs = 250;
const defaultUrl = 'http://127.0.0.1:8080';
type Running = Omit<EvaluateDeps, 'environment' | 'show'> & { readonly client: EvaluationClient };

/** Runs `parley evaluate`; gives how it exits. */
export async function evaluateCommand(flags: EvaluateFlags, deps: EvaluateDeps): Promise<0 | 1 | 2> {
  try {
    return await evaluate(flags, deps);
  } catch (thrown) {
    const isKnown = thrown instanceof EvaluateFault || (thrown instanceof Error && 'syscall' in thrown);
    if (!isKnown) throw thrown;
    deps.tell(`parley: ${thrown.message}\n`);
    return 2;
  }
}

async function evaluate(flags: EvaluateFlags, { environment, show, ...terminal }: EvaluateDeps): Promise<0 | 1> {
  const { url = environment.PARLEY_URL ?? defaultUrl, key = environment.PARLEY_KEY, version, against, parallel } = flags;
  if (!URL.canParse(url)) throw new EvaluateFault('PARLEY_URL is no address');
  const cases = flags.cases === undefined ? undefined : await readCases(flags.cases);
  const client = new EvaluationClient(new URL(url), key);
  const place = await client.placeOf(flags.application);
  const request = { ...(cases && { cases }), ...(parallel !== undefined && { parallel }) };
  const running = { ...terminal, client };
  const before = against === undefined ? undefined : await run(running, place, { ...request, version: against });
  const evaluation = await run(running, place, { ...request, ...(version !== undefined && { version }) });
  for (const line of toLines(evaluation)) show(line);
  if (before !== undefined)
    for (const line of toDifference(before.version, await client.compare(before.id, evaluation.id))) show(line);
  if (flags.json !== undefined) await writeFile(flags.json, toJsonReport(`applications/${place}`, evaluation));
  if (flags.junit !== undefined) await writeFile(flags.junit, toJunit(`applications/${place}`, evaluation));
  return evaluation.status === 'completed' && evaluation.passed === evaluation.total ? 0 : 1;
}

async function run(
  { client, isTerminal, tell, onBreak }: Running,
  place: string,
  request: Parameters<EvaluationClient['start']>[1],
): Promise<EvaluationWithResults> {
  const { id, version, total } = await client.start(place, request);
  onBreak(() => client.cancel(id));
  for (;;) {
    const { status, passed, failed, errors } = await client.progress(id);
    const isOver = status !== 'in_progress';
    if (isTerminal || isOver)
      tell(`${isTerminal ? '\r' : ''}version ${version}: ${passed + failed + errors} of ${total} cases${isOver ? '\n' : ''}`);
    if (isOver) return client.results(id);
    await wait(lookMs);
  }
}

function toDifference(before: number, { better, worse, same, otherAnswers, cases }: ToldComparison): readonly string[] {
  const changed = cases.filter(({ change }) => change === 'better' || change === 'worse');
  return [
    `against version ${before}: ${better} better, ${worse} worse, ${same} the same, ${otherAnswers} with another answer`,
    ...changed.map(({ name, change }) => `${change.toUpperCase().padEnd(6)}  ${name}`),
  ];
}
