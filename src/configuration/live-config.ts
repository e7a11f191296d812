import { Secret } from '#base/secrets/secret.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { protocolFor } from '#contract/configuration/protocols.ts';
import { readUpstreamKey, secretsOfKey } from '#contract/configuration/upstream-key.ts';
import { listSecrets } from '#contract/quick-app/secrets.ts';
import { type ConfigSnapshot, toSnapshot } from '#domain/deployments/config-snapshot.ts';
import { listFieldSecrets } from '#domain/upstreams/upstream-error.ts';

/** The configuration in force; a reload puts a whole new one in its place. */
export class LiveConfig {
  #current: ConfigSnapshot;
  #secrets: readonly Secret[];
  #listener: () => void = () => undefined;

  constructor(configuration: Configuration) {
    this.#current = toSnapshot(configuration);
    this.#secrets = collectSecrets(configuration);
  }

  readonly current = (): ConfigSnapshot => this.#current;

  /** Registers the one listener; it is called after each `replace`. */
  onReplaced(listener: () => void): void {
    this.#listener = listener;
  }

  /** What must never be seen in a log. */
  secrets(): readonly Secret[] {
    return this.#secrets;
  }

  /** Replaces it for calls that come from now on; upstreams keep their health. Throws, changing nothing, if it cannot be built. */
  replace(configuration: Configuration): void {
    const secrets = collectSecrets(configuration);
    this.#current = toSnapshot(configuration);
    this.#secrets = secrets;
    this.#listener();
  }
}

const minChars = 6;

/** Every secret of a configuration, for the guard of the log; values too short to be told from ordinary words are left out. */
function collectSecrets(configuration: Configuration): readonly Secret[] {
  const values: (string | undefined)[] = [];
  for (const model of Object.values(configuration.models)) {
    values.push(...valuesInQuery(model.endpoint));
    for (const upstream of model.upstreams) {
      const { key, headers, endpoint, extraData } = upstream;
      values.push(...keySecrets(protocolFor(upstream, model), key), ...listFieldSecrets(headers));
      values.push(...valuesInQuery(endpoint), ...textsIn(extraData));
    }
  }
  for (const [name, { key, sha256 }] of Object.entries(configuration.keys)) values.push(key ?? sha256 ?? name);
  for (const { url, authorization } of Object.values(configuration.addons))
    values.push(...Object.values(authorization ?? {}), ...valuesInQuery(url));
  for (const { endpoint, applicationProperties } of Object.values(configuration.applications))
    values.push(...valuesInQuery(endpoint), ...listSecrets(applicationProperties ?? {}));
  return values.filter((value) => value !== undefined && value.length >= minChars).map((value) => new Secret(String(value)));
}

/** A key and what it is made of, such as that of an account. */
function keySecrets(protocol: string, key: string | undefined): readonly string[] {
  if (key === undefined) return [];
  const parsedKey = readUpstreamKey(protocol, key);
  return [key, ...('fault' in parsedKey ? [] : secretsOfKey(parsedKey))];
}

/** Every text in a value, however deep. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Addresses may carry a key in their query. */
function valuesInQuery(url: string | undefined): readonly string[] {
  return [...(URL.parse(url ?? '')?.searchParams.values() ?? [])];
}
