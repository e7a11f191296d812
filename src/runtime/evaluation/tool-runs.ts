import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import type { CompletionChoice } from '#contract/chunk.ts';
import { type Message, toolCallsOf } from '#contract/message.ts';
import type { ToolRun } from '#domain/evaluation/evaluation.ts';

/** Tools that ran here, by the trace, and those that the reply asks its caller to run. In an order that is the same each time: runs of one turn end as they like. */
export function toolRunsOf(message: CompletionChoice['message'], trace: readonly JsonObject[]): readonly ToolRun[] {
  const ran = trace
    .filter(({ kind }) => kind === 'tool')
    .map((item) => ({ turn: Number(item.turn), run: toRun(item) }))
    .sort((one, other) => one.turn - other.turn || compare(JSON.stringify(one.run), JSON.stringify(other.run)))
    .map(({ run }) => run);
  return [...ran, ...handedOut(message)];
}

function toRun({ name, sent, received, error }: JsonObject): ToolRun {
  const result = tryParseJson(String(received));
  const failed = error !== undefined || (isJsonObject(result) && result.failed === true);
  return { tool: String(name), arguments: argumentsIn(sent), failed };
}

function handedOut(message: CompletionChoice['message']): readonly ToolRun[] {
  const offered = toolCallsOf(message as Message).map(({ function: called }) => called);
  return [...offered, message.function_call]
    .filter(isJsonObject)
    .map(({ name, arguments: written }) => ({ tool: String(name), arguments: argumentsIn(written), failed: false }));
}

/** What is no JSON, or was cut, is a text. */
function argumentsIn(written: unknown): unknown {
  return typeof written === 'string' ? (tryParseJson(written) ?? written) : {};
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
