import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: JsonObject;
}

/** The tools of a request and what it wants done with them. */
export interface ToolOffer {
  readonly tools: readonly OfferedTool[];
  /** An object names the tool that must be called. */
  readonly choice: 'none' | 'auto' | 'required' | { readonly name: string };
  /** `functions` is the older form: one call in each reply. */
  readonly form: 'tools' | 'functions';
  /** Whether one reply may call several. */
  readonly isParallel: boolean;
}

const mostTools = 128;

export function readTools(request: ChatRequest): ToolOffer {
  const { tools, functions } = request;
  const isOld = !Array.isArray(tools) && Array.isArray(functions);
  const given: unknown[] = isOld ? functions : Array.isArray(tools) ? tools.map((tool) => tool?.function) : [];
  return {
    tools: given.slice(0, mostTools).flatMap(toTool),
    choice: toChoice(isOld ? request.function_call : request.tool_choice),
    form: isOld ? 'functions' : 'tools',
    isParallel: !isOld && request.parallel_tool_calls !== false,
  };
}

function toTool(given: unknown): OfferedTool[] {
  if (!isJsonObject(given) || typeof given.name !== 'string') return [];
  const { name, description, parameters } = given;
  return [
    {
      name,
      description: typeof description === 'string' ? description : '',
      parameters: isJsonObject(parameters) ? parameters : {},
    },
  ];
}

function toChoice(given: unknown): ToolOffer['choice'] {
  if (given === 'none' || given === 'required') return given;
  if (!isJsonObject(given)) return 'auto';
  const name = isJsonObject(given.function) ? given.function.name : given.name;
  return typeof name === 'string' ? { name } : 'auto';
}
