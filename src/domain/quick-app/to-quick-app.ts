import type { JsonObject } from '#base/json.ts';
import type { ClientTool } from '#contract/quick-app/client-toolset.ts';
import type { QuickAppForm } from '#contract/quick-app/form.ts';
import type { McpToolset } from '#contract/quick-app/mcp-toolset.ts';
import type { ObsoleteWebToolset, RestToolset } from '#contract/quick-app/web-toolset.ts';
import { DeploymentFilter } from './deployment-filter.ts';
import type { McpToolsetSettings, QuickApp, QuickAppToolset, RestToolsetSettings } from './quick-app.ts';
import { toRestToolDefinition } from './to-rest-tool-definition.ts';
import { toRestToolset } from './to-rest-toolset.ts';

/** The flat form of `applicationProperties` (docs/wire.md, Quick apps) as one list of toolsets. To be given a form without faults, completed. */
export function toQuickApp(form: QuickAppForm): QuickApp {
  return {
    instructions: form.instructions,
    model: form.model,
    temperature: form.temperature,
    starters: form.starters ?? [],
    context: form.context ?? {},
    toolsets: [...toToolsets(form)],
    filter: toFilter(form),
  };
}

function toFilter({ applications_as_tools: entries = [] }: QuickAppForm): DeploymentFilter | undefined {
  const conditions = entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry.conditions]));
  return conditions.length === 0 ? undefined : new DeploymentFilter(conditions);
}

function* toToolsets(form: QuickAppForm): Iterable<QuickAppToolset> {
  for (const entry of form.applications_as_tools ?? []) {
    if (typeof entry === 'string') yield { kind: 'deployment', id: entry };
  }
  for (const tool of form.client_toolset ?? []) {
    yield { kind: 'client', name: tool.name, description: tool.description, parameters: toParameters(tool) };
  }
  for (const toolset of [...(form.web_api_toolset ?? []), ...(form.web_api_toolset_alternative ?? [])]) {
    yield toWebToolset(toolset);
  }
  for (const toolset of form.mcp_toolset ?? []) yield toMcpToolset(toolset);
  const files = [form.document_relative_url ?? []].flat();
  if (files.length > 0) yield { kind: 'documents', files, retrieval: form.retrieval ?? {} };
}

function toParameters({ parameters }: ClientTool): JsonObject {
  const properties = parameters.map(({ name, description, parameter_type }) => [name, { type: parameter_type, description }]);
  return { type: 'object', properties: Object.fromEntries(properties), required: parameters.map(({ name }) => name) };
}

function toWebToolset(written: RestToolset | ObsoleteWebToolset): RestToolsetSettings {
  const { name, authorization, tools } = 'tool_endpoints' in written ? toRestToolset(written) : written;
  return { kind: 'rest', name, authorization: authorization ?? null, tools: tools.map(toRestToolDefinition) };
}

function toMcpToolset({
  name,
  mcp_server_info,
  allowed_tools,
  resources = false,
  prompts = false,
}: McpToolset): McpToolsetSettings {
  const { url, protocol, authorization = null } = mcp_server_info;
  return { kind: 'mcp', name, url, protocol, authorization, allowedTools: allowed_tools, resources, prompts };
}
