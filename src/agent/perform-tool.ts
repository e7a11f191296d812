import { HttpError } from '#base/http/client.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { CheckTime, findSchemaError, slowSchema, takesNull, unusableSchema } from '#contract/schemas/schema-error.ts';
import { type Tool, type ToolContext, ToolError, type ToolResult } from '#domain/tools/tool.ts';

/** What is said in place of a reason. */
export const withheldReason = 'The tool failed.';

/** Within what a tool is run. */
interface PerformBounds {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Milliseconds the run may take. */
  readonly timeoutMs: number;
  /** Called with faults whose reason is shown to nobody. */
  readonly onToolError: (tool: string, error: unknown) => void;
  readonly toContext: (signal: AbortSignal) => ToolContext;
}

/** Runs a tool; its failure is a result. Rejects with the reason of the signal. */
export async function performTool(tool: Tool, args: JsonObject, bounds: PerformBounds): Promise<ToolResult> {
  const { timeoutMs, onToolError, toContext } = bounds;
  // The client may have left while the arguments were checked.
  bounds.signal.throwIfAborted();
  const signal = AbortSignal.any([bounds.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await raceAbort(run(tool, args, toContext(signal)), signal);
  } catch (error) {
    bounds.signal.throwIfAborted();
    const reason = getFailureReason(error, { signal, timeoutMs });
    if (reason === undefined) onToolError(tool.name, error);
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
export function getFailureReason(error: unknown, { signal, timeoutMs }: RunBounds): string | undefined {
  if (signal.aborted) return `The tool was stopped: it took longer than ${timeoutMs / 1000} s.`;
  const canDisclose = error instanceof ToolError || error instanceof HttpError || error instanceof ParleyError;
  return canDisclose ? `The tool failed: ${error.message}` : undefined;
}

/** The arguments of a call; `fault` tells the model what to mend, if they are not what the tool takes. */
interface ParsedArguments {
  readonly args: JsonObject;
  readonly error?: string;
}

/**
 * Reads the arguments of a tool call, without optional arguments that are null. Any arguments are valid if the schema is absent or cannot be
 * used. Arguments that cannot be checked in time are invalid. Yields to the event loop first.
 */
export async function parseArguments(text: string, schema: JsonObject = {}, time = new CheckTime()): Promise<ParsedArguments> {
  // Also before an error, so that results keep the order of the calls.
  await new Promise(setImmediate);
  const input = text.trim() === '' ? {} : tryParseJson(text);
  if (!isJsonObject(input)) return { args: {}, error: 'The arguments are not a JSON object; call the tool again with one.' };
  const args = wrapInLists(removeIdleNulls(input, schema), schema);
  const issue = findSchemaError(args, schema, { name: 'arguments', time });
  if (issue === slowSchema)
    return { args, error: 'The tool was not run: checking its arguments takes too long. Call it with fewer arguments.' };
  if (issue === undefined || issue === unusableSchema) return { args };
  return { args, error: `The tool was not run: ${issue}. Call it again with arguments that follow its schema.` };
}

/** Models that have to say something for each argument say null for those they leave out. */
function removeIdleNulls(args: JsonObject, schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  const propertySchemas = isJsonObject(properties) ? properties : {};
  const requiredNames = Array.isArray(required) ? required : [];
  const entries = Object.entries(args).filter(
    ([name, value]) => value !== null || requiredNames.includes(name) || takesNull(propertySchemas[name], schema),
  );
  return entries.length === Object.keys(args).length ? args : Object.fromEntries(entries);
}

/** A single value where a list is wanted is a list of it. */
function wrapInLists(args: JsonObject, { properties }: JsonObject): JsonObject {
  const propertySchemas = isJsonObject(properties) ? properties : {};
  const expectsList = (name: string): boolean => isJsonObject(propertySchemas[name]) && propertySchemas[name].type === 'array';
  const mismatched = Object.entries(args).filter(([name, value]) => expectsList(name) && !Array.isArray(value));
  return mismatched.length === 0 ? args : { ...args, ...Object.fromEntries(mismatched.map(([name, value]) => [name, [value]])) };
}
