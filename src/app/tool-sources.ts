import type { Caches } from '#base/caches.ts';
import type { Clock } from '#base/clock.ts';
import { guardClient } from '#base/guarded-client.ts';
import { createGuardedFetch } from '#base/guarded-fetch.ts';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { NetGuard } from '#base/net-guard.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { NoteUnusablePart } from '#domain/quick-app/unusable-part.ts';
import { AddonTools } from '#runtime/addons.ts';
import type { ToolSources } from '#runtime/quick-app/load-tools.ts';
import { tryTool } from '#runtime/try-tool.ts';
import type { ToolRoutesDeps } from '#surfaces/applications/tool-routes.ts';
import { TokenCache } from '#tools/authorization/token-cache.ts';
import type { McpTools } from '#tools/mcp/mcp-tools.ts';
import type { OpenApiReader } from '#tools/openapi/openapi-reader.ts';
import type { DocumentTools } from './document-tools.ts';
import type { ServersStartersDeps } from './servers-starters.ts';

const tokenReplyMs = 30_000;

/** Where tools come from under one configuration: behind its network guard. */
export interface ConfiguredTools {
  readonly addons: AddonTools;
  readonly sources: ToolSources;
  /** What conversations may begin with, of one MCP server. */
  readonly starters: ServersStartersDeps['starters'];
  /** What one MCP server offers now. */
  readonly survey: ToolRoutesDeps['survey'];
  /** One run of one tool. */
  readonly tryTool: ToolRoutesDeps['tryTool'];
}

/** What does not change with the configuration. */
interface LastingSources {
  readonly mcp: McpTools;
  readonly documents: DocumentTools;
  readonly caches: Caches;
  readonly openApi: OpenApiReader;
  readonly noteFault: (message: string, thrown: unknown) => void;
  readonly noteUnusablePart: NoteUnusablePart;
}

/** Gives the tools of the configuration in force, made once for each. */
export function createToolSources(clock: Clock, lasting: LastingSources): (configuration: Configuration) => ConfiguredTools {
  const made = new WeakMap<Configuration, ConfiguredTools>();
  return (configuration) => {
    let tools = made.get(configuration);
    if (tools === undefined) {
      tools = toTools(configuration, clock, lasting);
      made.set(configuration, tools);
    }
    return tools;
  };
}

function toTools(configuration: Configuration, clock: Clock, lasting: LastingSources): ConfiguredTools {
  const { security, tools: limits } = configuration;
  const { connectMs, listMs, timeoutMs } = limits;
  const { allowPrivateNetworks } = security;
  const guard = new NetGuard(allowPrivateNetworks);
  const http: HttpClient = guardClient(guard, (lookup) => new LeanClient({ lookup }));
  const { caches } = lasting;
  const tokens = new TokenCache({
    http,
    clock,
    caches,
    timeouts: { connectMs, firstByteMs: tokenReplyMs, idleMs: tokenReplyMs },
  });
  const rules = JSON.stringify([allowPrivateNetworks, connectMs, listMs, timeoutMs]);
  const network = { fetch: createGuardedFetch(guard, connectMs), tokens, timeoutMs, connectMs, listMs, rules };
  const sources: ToolSources = {
    http,
    tokens,
    limits,
    async mcp(settings, context) {
      const loaded = await lasting.mcp.load(settings, network, context);
      const { application, owner } = context;
      if (owner === null && settings.allowedTools !== undefined)
        lasting.noteUnusablePart({ kind: 'tools', application, toolset: settings.name, names: loaded.unknownNames });
      return loaded;
    },
    documents: (settings, context) => lasting.documents.load(settings, configuration, context),
  };
  const onFault = (tool: string, thrown: unknown): void => lasting.noteFault(`the tool ${tool} failed`, thrown);
  return {
    addons: new AddonTools({ http, tokens, clock, caches, limits, reader: lasting.openApi }),
    sources,
    tryTool: (trial) => tryTool(trial, { sources, clock, limits, onFault }),
    starters: (settings, user) => lasting.mcp.starters(settings, network, user),
    survey: (settings, signal) => lasting.mcp.survey(settings, network, signal),
  };
}
