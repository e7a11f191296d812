import { HttpError } from '#base/http/client.ts';
import { isJsonObject, type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import {
  acceptsNull,
  CheckTime,
  findSchemaError,
  NullSteps,
  slowSchema,
  unusableSchema,
} from '#contract/schemas/schema-error.ts';
import { type Tool, type ToolContext, ToolError, type ToolResult } from '#domain/tools/tool.ts';

/** Replacement for an error message that must not be disclosed. */
export const withheldReason = 'The tool failed.';

/** Options for one tool run. */
interface PerformOptions {
  /** Aborted if the client disconnects. */
  readonly signal: AbortSignal;
  /** Maximum duration of the run in milliseconds. */
  readonly timeoutMs: number;
  /** Called with errors whose message must not be disclosed. */
  readonly onToolError: (tool: string, error: unknown) => void;
  /** Creates the context for the tool. The signal is also aborted when the run exceeds its time. */
  readonly createContext: (signal: AbortSignal) => ToolContext;
}

/** Runs a tool. Returns a failure as a result. Rejects only with the reason of the signal. */
export async function performTool(tool: Tool, args: JsonObject, options: PerformOptions): Promise<ToolResult> {
  const { timeoutMs, onToolError, createContext } = options;
  // The client may have disconnected while the arguments were checked.
  options.signal.throwIfAborted();
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await raceAbort(tool.run(args, createContext(signal)), signal);
  } catch (error) {
    options.signal.throwIfAborted();
    const reason = getFailureReason(error, { signal, timeoutMs });
    if (reason === undefined) onToolError(tool.name, error);
    return toFailure(reason ?? withheldReason);
  }
}

/** Returns a failed result. */
export function toFailure(text: string): ToolResult {
  return { text, attachments: [], failed: true };
}

/**
 * Returns why a tool run failed, for the model, the stage, and the trace. Returns undefined if the message must not be
 * disclosed. `signal` is aborted if the client disconnects or the run exceeds its time.
 */
export function getFailureReason(
  error: unknown,
  { signal, timeoutMs }: Pick<PerformOptions, 'signal' | 'timeoutMs'>,
): string | undefined {
  if (signal.aborted) return `The tool was stopped: it took longer than ${timeoutMs / 1000} s.`;
  const canDisclose = error instanceof ToolError || error instanceof HttpError || error instanceof ParleyError;
  return canDisclose ? `The tool failed: ${error.message}` : undefined;
}

/** Arguments of a call. */
interface ParsedArguments {
  readonly args: JsonObject;
  /** Text for the model that explains how to correct invalid arguments. Absent if the arguments are valid. */
  readonly error?: string;
}

/**
 * Parses the arguments of a tool call. Drops null values of optional arguments whose schema does not accept null. Wraps single
 * values if the schema requires a list. Any JSON object is valid if the schema is absent or cannot be used. Arguments that
 * cannot be checked in time are invalid. Yields to the event loop first.
 */
export async function parseArguments(text: string, schema: JsonObject = {}, time = new CheckTime()): Promise<ParsedArguments> {
  // Yields even if the arguments are invalid, so that results keep the order of the calls.
  await new Promise(setImmediate);
  const input = text.trim() === '' ? {} : tryParseJson(text);
  if (!isJsonObject(input)) return { args: {}, error: 'The arguments are not a JSON object. Send a JSON object.' };
  const args = wrapInLists(removeOptionalNulls(input, schema), schema);
  const issue = findSchemaError(args, schema, { name: 'arguments', time });
  if (issue === slowSchema)
    return { args, error: 'The tool was not run: checking its arguments takes too long. Call it with fewer arguments.' };
  if (issue === undefined || issue === unusableSchema) return { args };
  return { args, error: `The tool was not run: ${issue}. Call it again with arguments that follow its schema.` };
}

/**
 * Removes null values of optional arguments that do not accept null, because some models send null for every argument that they
 * omit.
 */
function removeOptionalNulls(args: JsonObject, schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  const propertySchemas = toObject(properties);
  const requiredNames = new Set(Array.isArray(required) ? required : []);
  const steps = new NullSteps();
  const entries = Object.entries(args).filter(
    ([name, value]) => value !== null || requiredNames.has(name) || acceptsNull(propertySchemas[name], schema, steps),
  );
  return entries.length === Object.keys(args).length ? args : Object.fromEntries(entries);
}

/** Wraps single values in a list if the schema requires a list. */
function wrapInLists(args: JsonObject, { properties }: JsonObject): JsonObject {
  const propertySchemas = toObject(properties);
  const expectsList = (name: string): boolean => isJsonObject(propertySchemas[name]) && propertySchemas[name].type === 'array';
  const mismatched = Object.entries(args).filter(([name, value]) => expectsList(name) && !Array.isArray(value));
  return mismatched.length === 0 ? args : { ...args, ...Object.fromEntries(mismatched.map(([name, value]) => [name, [value]])) };
}
