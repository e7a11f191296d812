import { Secret } from '#base/secret.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';

const shortest = 6;

/** Every secret of a configuration, for the guard of the log; values too short to be told from ordinary words are left out. */
export function knownSecrets(configuration: Configuration): readonly Secret[] {
  const values: (string | undefined)[] = [];
  for (const { upstreams } of Object.values(configuration.models)) {
    for (const { key, headers } of upstreams) values.push(key, ...Object.values(headers));
  }
  for (const [name, { key }] of Object.entries(configuration.keys)) values.push(key ?? name);
  for (const { authorization } of Object.values(configuration.addons)) values.push(...Object.values(authorization ?? {}));
  return values.filter((value) => value !== undefined && value.length >= shortest).map((value) => new Secret(String(value)));
}
