import { clientAddress, peerOf, type RequestOrigin, trustedNetworks } from '#base/http/client-address.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Returns whether a key accepts an address. Undefined: the key accepts every address. */
export type IsAllowed = ((address: string) => boolean) | undefined;

/** Prepares `allowedIps` of a key: addresses, and networks in CIDR notation. Null or undefined: the key accepts every address. */
export function toIsAllowed(allowedIps: readonly string[] | null | undefined): IsAllowed {
  return allowedIps == null ? undefined : trustedNetworks(allowedIps);
}

/** Throws `address_not_allowed` if a request comes from an address that its key does not accept. */
export function requireAllowedAddress(
  isAllowed: IsAllowed,
  { socket, headers }: RequestOrigin,
  { security }: Pick<Configuration, 'security'>,
): void {
  if (isAllowed === undefined) return;
  const { realIp } = clientAddress(peerOf(socket), headers, trustedNetworks(security.trustedProxies));
  if (isAllowed(realIp)) return;
  throw new ParleyError(
    'address_not_allowed',
    `The key may not be used from ${realIp}, because it is bound to other addresses. Send it from one of these, or use another key.`,
  );
}
