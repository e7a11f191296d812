import type { Clock } from '#base/clock.ts';
import { guardClient } from '#base/guarded-client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { NetGuard } from '#base/net-guard.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { AddonTools } from '#runtime/addons.ts';
import { TokenCache } from '#tools/authorization/token-cache.ts';

const tokenReplyMs = 30_000;

/** Gives the addon tools of the configuration in force: made once for each, behind its network guard. */
export function createAddonTools(clock: Clock): (configuration: Configuration) => AddonTools {
  const made = new WeakMap<Configuration, AddonTools>();
  return (configuration) => {
    let tools = made.get(configuration);
    if (tools === undefined) {
      tools = toAddonTools(configuration, clock);
      made.set(configuration, tools);
    }
    return tools;
  };
}

function toAddonTools({ security, tools: limits }: Configuration, clock: Clock): AddonTools {
  const http = guardClient(new NetGuard(security.allowPrivateNetworks), (lookup) => new LeanClient({ lookup }));
  const timeouts = { connectMs: limits.connectMs, firstByteMs: tokenReplyMs, idleMs: tokenReplyMs };
  return new AddonTools({ http, tokens: new TokenCache({ http, clock, timeouts }), clock, limits });
}
