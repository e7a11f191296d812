import type { Caller } from '#domain/callers/caller.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { McpToolsetSettings, QuickAppToolset } from '#domain/quick-app/quick-app.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import type { McpUser } from '#tools/mcp/mcp-tools.ts';

/** What comes later is kept, and told to who asks next. */
const longestWaitMs = 2_000;

export interface ServersStartersDeps {
  /** Of one server; rejects with ToolFault, or with the signal's reason. */
  readonly starters: (settings: McpToolsetSettings, user: McpUser) => Promise<readonly string[]>;
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** The prompts that an application takes over from its MCP servers for its users to begin with; of a server that does not give them in two seconds none. */
export async function startersOfServers(
  { starters, noteFault }: ServersStartersDeps,
  { id, quickApp }: Deployment,
  { caller: { subject }, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(longestWaitMs)]);
  const user = { subject, application: id, signal: waiting };
  const told = (quickApp?.toolsets ?? []).filter(hasPrompts).map(async (settings) => {
    try {
      return await starters(settings, user);
    } catch (thrown) {
      if (!waiting.aborted && !(thrown instanceof ToolFault)) noteFault(`the prompts of ${settings.name} were not read`, thrown);
      return [];
    }
  });
  return (await Promise.all(told)).flat();
}

function hasPrompts(toolset: QuickAppToolset): toolset is McpToolsetSettings {
  return toolset.kind === 'mcp' && toolset.prompts === true;
}
