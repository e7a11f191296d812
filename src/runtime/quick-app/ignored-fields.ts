import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';

/** The fields of a request that a quick app does not hand to its model, since it is made with its own. */
export function ignoredByQuickApp(app: QuickApp, { functions = [], ...request }: ChatRequest): string[] {
  const { tools, tool_choice: choice, temperature, addons = [] } = request;
  const names = new Set(functions.map(({ name }) => name));
  for (const toolset of app.toolsets) if (toolset.kind === 'client') names.add(toolset.name);
  return [
    ...(Array.isArray(tools) && tools.length > 0 ? ['tools'] : []),
    ...(choice !== undefined && !forcesOneOf(names, choice) ? ['tool_choice'] : []),
    ...(temperature !== undefined && temperature !== app.temperature ? ['temperature'] : []),
    ...(addons.length > 0 ? ['addons'] : []),
  ];
}

/** A caller can force a tool that it is handed. */
function forcesOneOf(names: ReadonlySet<string>, choice: unknown): boolean {
  const forced = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function.name : undefined;
  return typeof forced === 'string' && names.has(forced);
}
