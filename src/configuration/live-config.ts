import { Secret } from '#base/secrets/secret.ts';
import { hasSecretName } from '#contract/configuration/access.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { getProtocol } from '#contract/configuration/protocols.ts';
import { readSchema, replaceSecrets } from '#contract/configuration/schema-node.ts';
import { listKeySecrets, readUpstreamKey } from '#contract/configuration/upstream-key.ts';
import { listSecrets } from '#contract/quick-app/secrets.ts';
import { type ConfigSnapshot, createConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { listFieldSecrets } from '#domain/upstreams/upstream-error.ts';

/** Current configuration. A reload replaces it completely. */
export class LiveConfig {
  #current: ConfigSnapshot;
  #secrets: readonly Secret[];
  #listener: () => void = () => undefined;

  constructor(configuration: Configuration) {
    this.#current = createConfigSnapshot(configuration);
    this.#secrets = collectSecrets(configuration);
  }

  readonly current = (): ConfigSnapshot => this.#current;

  /** Registers the only listener. It is called after each `replace`. */
  onReplaced(listener: () => void): void {
    this.#listener = listener;
  }

  /** Returns the secrets that must never appear in a log. */
  listSecrets(): readonly Secret[] {
    return this.#secrets;
  }

  /**
   * Replaces the configuration for new calls. Upstreams keep their health. If the new configuration cannot be built, throws and
   * changes nothing.
   */
  replace(configuration: Configuration): void {
    const secrets = collectSecrets(configuration);
    this.#current = createConfigSnapshot(configuration);
    this.#secrets = secrets;
    this.#listener();
  }
}

const minSecretChars = 6;

/**
 * Returns all secrets of a configuration, for redaction in the log. Omits values that are too short to differ from ordinary
 * words.
 */
function collectSecrets(configuration: Configuration): readonly Secret[] {
  const values: string[] = [];
  replaceSecrets(readSchema(Configuration), configuration, (secret) => values.push(...listTexts(secret)));
  for (const model of Object.values(configuration.models)) {
    values.push(...listQueryValues(model.endpoint));
    for (const upstream of model.upstreams) {
      const { key, headers, endpoint } = upstream;
      values.push(...listKeyParts(getProtocol(upstream, model), key), ...listFieldSecrets(headers), ...listQueryValues(endpoint));
    }
  }
  for (const [name, key] of Object.entries(configuration.keys)) if (hasSecretName(key)) values.push(name);
  for (const { url } of [...configuration.alerts, ...Object.values(configuration.addons)]) values.push(...listQueryValues(url));
  for (const { endpoint, applicationProperties } of Object.values(configuration.applications))
    values.push(...listQueryValues(endpoint), ...listSecrets(applicationProperties ?? {}));
  return values.filter((value) => value.length >= minSecretChars).map((value) => new Secret(value));
}

/** Returns the secret parts of a key, such as the private key of a service account. */
function listKeyParts(protocol: string, key: string | undefined): readonly string[] {
  if (key === undefined) return [];
  const parsedKey = readUpstreamKey(protocol, key);
  return 'error' in parsedKey ? [] : listKeySecrets(parsedKey);
}

/** Returns all strings in a value, at any depth. */
function listTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}

/** Returns the query values of a URL, because a query can contain a key. */
function listQueryValues(url: string | undefined): readonly string[] {
  return [...(URL.parse(url ?? '')?.searchParams.values() ?? [])];
}
