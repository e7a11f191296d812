import { HttpFault } from '#base/http/client.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { untilAborted } from '#base/stream/until-aborted.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { CheckTime, schemaFault, slowSchema, takesNull, unusableSchema } from '#contract/schemas/schema-error.ts';
import { type Tool, type ToolContext, ToolFault, type ToolResult } from '#domain/tools/tool.ts';

/** What is said in place of a reason. */
export const withheldReason = 'The tool failed.';

/** Within what a tool is run. */
interface PerformBounds {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Milliseconds the run may take. */
  readonly timeoutMs: number;
  /** Called with faults whose reason is shown to nobody. */
  readonly onFault: (tool: string, thrown: unknown) => void;
  readonly toContext: (signal: AbortSignal) => ToolContext;
}

/** Runs a tool; its failure is a result. Rejects with the reason of the signal. */
export async function performTool(tool: Tool, args: JsonObject, bounds: PerformBounds): Promise<ToolResult> {
  const { timeoutMs, onFault, toContext } = bounds;
  // The client may have left while the arguments were checked.
  bounds.signal.throwIfAborted();
  const signal = AbortSignal.any([bounds.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await untilAborted(run(tool, args, toContext(signal)), signal);
  } catch (thrown) {
    bounds.signal.throwIfAborted();
    const reason = reasonOf(thrown, { signal, timeoutMs });
    if (reason === undefined) onFault(tool.name, thrown);
    return toFailure(reason ?? withheldReason);
  }
}

async function run(tool: Tool, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  return tool.run(args, context);
}

/** The result of a run that failed. */
export function toFailure(text: string): ToolResult {
  return { text, attachments: [], failed: true };
}

/** The bounds of one tool run. */
interface RunBounds {
  /** Aborted when the time of the run is over. */
  readonly signal: AbortSignal;
  /** Milliseconds the run may take. */
  readonly timeoutMs: number;
}

/** Why a tool run failed, for the model, its stage and the trace; undefined for a fault whose reason is shown to nobody. */
export function reasonOf(thrown: unknown, { signal, timeoutMs }: RunBounds): string | undefined {
  if (signal.aborted) return `The tool was stopped: it took longer than ${timeoutMs / 1000} s.`;
  const mayBeTold = thrown instanceof ToolFault || thrown instanceof HttpFault || thrown instanceof ParleyError;
  return mayBeTold ? `The tool failed: ${thrown.message}` : undefined;
}

/** The arguments of a call; `fault` tells the model what to mend, if they are not what the tool takes. */
interface ReadArguments {
  readonly args: JsonObject;
  readonly fault?: string;
}

/**
 * Reads the arguments of a tool call, without optional arguments that are null. Any arguments are valid if the schema is absent or cannot be
 * used. Arguments that cannot be checked in time are invalid. Yields to the event loop first.
 */
export async function readArguments(text: string, schema: JsonObject = {}, time = new CheckTime()): Promise<ReadArguments> {
  // Also before an error, so that results keep the order of the calls.
  await new Promise(setImmediate);
  const given = text.trim() === '' ? {} : tryParseJson(text);
  if (!isJsonObject(given)) return { args: {}, fault: 'The arguments are not a JSON object; call the tool again with one.' };
  const args = withLists(withoutIdleNulls(given, schema), schema);
  const wrong = schemaFault(args, schema, { name: 'arguments', time });
  if (wrong === slowSchema)
    return { args, fault: 'The tool was not run: checking its arguments takes too long. Call it with fewer arguments.' };
  if (wrong === undefined || wrong === unusableSchema) return { args };
  return { args, fault: `The tool was not run: ${wrong}. Call it again with arguments that follow its schema.` };
}

/** Models that have to say something for each argument say null for those they leave out. */
function withoutIdleNulls(given: JsonObject, schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  const known = isJsonObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required : [];
  const kept = Object.entries(given).filter(
    ([name, value]) => value !== null || needed.includes(name) || takesNull(known[name], schema),
  );
  return kept.length === Object.keys(given).length ? given : Object.fromEntries(kept);
}

/** A single value where a list is wanted is a list of it. */
function withLists(given: JsonObject, { properties }: JsonObject): JsonObject {
  const known = isJsonObject(properties) ? properties : {};
  const wantsList = (name: string): boolean => isJsonObject(known[name]) && known[name].type === 'array';
  const odd = Object.entries(given).filter(([name, value]) => wantsList(name) && !Array.isArray(value));
  return odd.length === 0 ? given : { ...given, ...Object.fromEntries(odd.map(([name, value]) => [name, [value]])) };
}
