import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Service } from '../service/service.ts';

/** A tool that a server offers. */
export interface OfferedTool {
  readonly name: string;
  /** For people; '' where there is none. */
  readonly title: string;
  readonly description: string;
  readonly isReadOnly: boolean;
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  /** JSON Schema of the arguments; undefined where it was too long to be told. */
  readonly parameters: JsonObject | undefined;
}

/** What a server offers now, or why it cannot be used. */
export interface ToolList {
  readonly tools: readonly OfferedTool[];
  /** How many it has. */
  readonly count: number;
  /** `reason` is a word of `failure.reason` (docs/quick-apps.md, MCP servers). */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

interface Asking {
  readonly toolset: JsonObject;
  /** Id of the application as it is stored, whose secrets stand for those that are hidden. */
  readonly application: string | undefined;
  readonly signal: AbortSignal;
}

/** Throws ServiceFault. */
export async function listTools(service: Service, { toolset, application, signal }: Asking): Promise<ToolList> {
  const body = { toolset, ...(application !== undefined && { application }) };
  const answer = await service.json('v1/tools/list', { method: 'POST', body, signal });
  const { tools, count, failure } = isJsonObject(answer) ? answer : {};
  return {
    tools: Array.isArray(tools) ? tools.filter(isJsonObject).map(toOffered) : [],
    count: Number(count),
    failure: isJsonObject(failure) ? { reason: String(failure.reason), message: String(failure.message) } : undefined,
  };
}

function toOffered({ name, title, description, parameters, readOnly }: JsonObject): OfferedTool {
  const schema = isJsonObject(parameters) ? parameters : {};
  const needs = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const named = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  return {
    ...{ name: String(name), title: String(title), description: String(description), isReadOnly: readOnly === true },
    ...{ needs, takes: named.filter((each) => !needs.includes(each)) },
    parameters: isJsonObject(parameters) ? parameters : undefined,
  };
}
