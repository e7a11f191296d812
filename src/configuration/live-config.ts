import type { Secret } from '#base/secret.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { type ConfigSnapshot, toSnapshot } from '#domain/deployments/config-snapshot.ts';
import { knownSecrets } from './known-secrets.ts';

/** The configuration in force; a reload puts a whole new one in its place. */
export class LiveConfig {
  #current: ConfigSnapshot;
  #secrets: readonly Secret[];
  #heard: () => void = () => undefined;

  constructor(configuration: Configuration) {
    this.#current = toSnapshot(configuration);
    this.#secrets = knownSecrets(configuration);
  }

  readonly current = (): ConfigSnapshot => this.#current;

  /** Registers the one listener; it is called after each `replace`. */
  onReplaced(hear: () => void): void {
    this.#heard = hear;
  }

  /** What must never be seen in a log. */
  secrets(): readonly Secret[] {
    return this.#secrets;
  }

  /** Replaces it for calls that come from now on; upstreams keep their health. Throws, changing nothing, if it cannot be built. */
  replace(configuration: Configuration): void {
    const secrets = knownSecrets(configuration);
    this.#current = toSnapshot(configuration);
    this.#secrets = secrets;
    this.#heard();
  }
}
