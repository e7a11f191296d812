import { hideSecrets } from '#contract/quick-app/secrets.ts';
import { type StoredApplication, shownId } from '#domain/deployments/application-store.ts';
import { shownFeatures } from '#domain/deployments/features.ts';

/** An application as its owner is shown it: what was saved without its secrets, and what is known of it (docs/wire.md, Applications). */
export function toShown({ entry, ...stored }: StoredApplication): Record<string, unknown> {
  const { applicationProperties: properties } = entry;
  return { ...entry, ...(properties && { applicationProperties: hideSecrets(properties) }), ...toFacts(stored) };
}

/** The same for others who may use it: not where it runs, what it was told, and with which tools it works. */
export function toSharedView({ entry, ...stored }: StoredApplication): Record<string, unknown> {
  const { endpoint: _endpoint, applicationProperties: _properties, defaults: _defaults, userRoles: _roles, ...shared } = entry;
  return { ...shared, ...(shared.features && { features: shownFeatures(shared) }), ...toFacts(stored) };
}

function toFacts({ etag, createdAtMs, updatedAtMs, ...named }: Omit<StoredApplication, 'entry'>): Record<string, unknown> {
  return { id: shownId(named), etag, createdAt: createdAtMs, updatedAt: updatedAtMs };
}
