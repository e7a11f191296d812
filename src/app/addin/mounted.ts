import { trustedNetworks } from '#base/net/trusted-networks.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Mounted } from '#surfaces/addin/mount.ts';
import { toRules } from '#surfaces/addin/rules.ts';

/** The add-in gateway as the configuration in force has it, made anew when that changes; undefined while it is switched off. */
export function mountedAddin(snapshot: () => ConfigSnapshot): () => Mounted | undefined {
  let known: Configuration | undefined;
  let mounted: Mounted | undefined;
  return () => {
    const { configuration } = snapshot();
    if (configuration !== known) {
      known = configuration;
      mounted = configuration.addin.enabled ? toMounted(configuration) : undefined;
    }
    return mounted;
  };
}

function toMounted({ addin, security }: Configuration): Mounted {
  return {
    prefix: addin.prefix,
    rules: toRules(addin.models, addin.allowedOrigins),
    isTrustedProxy: trustedNetworks(security.trustedProxies),
  };
}
