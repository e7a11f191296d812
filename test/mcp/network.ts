import { Caches } from '#base/cache/bounded-cache.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { createGuardedFetch } from '#base/net/guarded-fetch.ts';
import { guardClient, NetGuard } from '#base/net/net-guard.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { TokenCache } from '#tools/authorization/token-cache.ts';
import type { McpNetwork } from '#tools/mcp/mcp-tools.ts';

/** Creates a network through which MCP tools reach loopback servers without an app. */
export function openNetwork(clock: Clock): McpNetwork {
  const guard = new NetGuard(['127.0.0.1', '::1']);
  const http = guardClient(guard, (lookup) => new LeanClient({ lookup }));
  const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };
  return {
    fetch: createGuardedFetch(guard, 60_000),
    tokens: new TokenCache({ http, clock, caches: new Caches(), timeouts }),
    timeoutMs: 60_000,
    connectMs: 60_000,
    listMs: 60_000,
    rules: '',
  };
}

/** Returns the settings of a toolset without credentials. */
export function toSettings(url: string): McpToolsetSettings {
  return { kind: 'mcp', name: 'Tools', url, protocol: 'streamable_http', authorization: null, allowedTools: undefined };
}
