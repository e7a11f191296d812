import type { JsonObject } from '#base/json.ts';
import { McpQuery } from '#contract/mcp/message.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { negotiate, statelessRevision } from './revision.ts';

/** How long a list may be kept: a configuration can be changed at any time. */
const cacheHints = { ttlMs: 60_000, cacheScope: 'private' };
const capabilities = { tools: {} };

/** The answer to `initialize`. */
export function toInitialized(deployment: Deployment, asked: unknown): JsonObject {
  const { description: instructions } = deployment;
  return { protocolVersion: negotiate(asked), capabilities, serverInfo: toServerInfo(deployment), instructions };
}

/** The answer to `server/discover`. */
export function toDiscovered({ description: instructions }: Deployment): JsonObject {
  return { ...cacheHints, supportedVersions: [statelessRevision], capabilities, instructions };
}

/** The answer to `tools/list`. */
export function toToolList(deployment: Deployment): JsonObject {
  return { ...cacheHints, tools: [toTool(deployment)] };
}

/** What every answer of the stateless revision has. */
export function toStatelessResult(deployment: Deployment, result: JsonObject): JsonObject {
  return { resultType: 'complete', ...result, _meta: { 'io.modelcontextprotocol/serverInfo': toServerInfo(deployment) } };
}

/** Of the last segment of the id: letters, digits, `_` and `-`, at most 64. */
export function toToolName({ id }: Pick<Deployment, 'id'>): string {
  const name = id
    .slice(id.lastIndexOf('/') + 1)
    .replace(/[^a-zA-Z0-9_-]+/g, '_')
    .slice(0, 64);
  return /[a-zA-Z0-9]/.test(name) ? name : 'ask';
}

function toTool(deployment: Deployment): JsonObject {
  const { id, displayName: title = id, description = `Asks ${title} and gives its answer.`, kind } = deployment;
  // A model only answers; what an application does behind its answer is its own affair.
  const annotations = kind === 'model' ? { title, readOnlyHint: true, openWorldHint: false } : { title, openWorldHint: true };
  return { name: toToolName(deployment), title, description, inputSchema: McpQuery, annotations };
}

function toServerInfo({ id, displayName: title = id }: Deployment): JsonObject {
  return { name: packageJson.name, title, version: packageJson.version };
}
