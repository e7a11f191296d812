import { isJsonObject } from '#base/json/json.ts';
import type { Message } from '#contract/chat/message.ts';
import type { ToolMessage } from './tool-run.ts';
import type { ToolCall, Turn } from './turn.ts';

const lastTurnNote = '\n\n[No more tools can be called in this run: answer now with what is known.]';

/** None of a reply that was cut off: half of a call must not be run. */
export function callsToRun(turn: Turn): ToolCall[] {
  return turn.isCutOff ? [] : turn.calls;
}

/** Tells the model, behind the last of its results, that it is offered no tools in its next turn. */
export function noteLastTurn(answers: readonly ToolMessage[]): void {
  const last = answers.at(-1);
  if (last !== undefined) last.content += lastTurnNote;
}

/** Turns of a run, by the messages that it added. */
export function turnsIn(added: readonly Message[]): number {
  return added.filter(({ role }) => role === 'assistant').length;
}

/** Names of the tools of a request. */
export function namesOf(tools: unknown): Set<string> {
  const names = (Array.isArray(tools) ? tools : []).map((tool) =>
    isJsonObject(tool) && isJsonObject(tool.function) ? tool.function.name : undefined,
  );
  return new Set(names.filter((name) => typeof name === 'string'));
}
