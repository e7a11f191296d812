import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: JsonObject;
}

/** The tools of a request and its settings for their use. */
export interface ToolOffer {
  readonly tools: readonly OfferedTool[];
  /** An object names the tool that must be called. */
  readonly choice: 'none' | 'auto' | 'required' | { readonly name: string };
  /** `functions` is the older form, with one call in each reply. */
  readonly form: 'tools' | 'functions';
  /** Whether one reply may have several calls. */
  readonly isParallel: boolean;
}

const maxTools = 128;

export function readTools(request: ChatRequest): ToolOffer {
  const { tools, functions } = request;
  const isLegacy = !Array.isArray(tools) && Array.isArray(functions);
  const toolInputs: unknown[] = isLegacy ? functions : Array.isArray(tools) ? tools.map((tool) => tool?.function) : [];
  return {
    tools: toolInputs.slice(0, maxTools).flatMap(toTool),
    choice: toChoice(isLegacy ? request.function_call : request.tool_choice),
    form: isLegacy ? 'functions' : 'tools',
    isParallel: !isLegacy && request.parallel_tool_calls !== false,
  };
}

function toTool(input: unknown): OfferedTool[] {
  if (!isJsonObject(input) || typeof input.name !== 'string') return [];
  const { name, description, parameters } = input;
  return [
    {
      name,
      description: typeof description === 'string' ? description : '',
      parameters: isJsonObject(parameters) ? parameters : {},
    },
  ];
}

function toChoice(input: unknown): ToolOffer['choice'] {
  if (input === 'none' || input === 'required') return input;
  if (!isJsonObject(input)) return 'auto';
  const name = isJsonObject(input.function) ? input.function.name : input.name;
  return typeof name === 'string' ? { name } : 'auto';
}
