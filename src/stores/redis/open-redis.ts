import type { Secret } from '#base/secrets/secret.ts';
import { toPlace } from './redis-address.ts';
import { type LinkDeps, RedisLink } from './redis-link.ts';

const nodeIdBytes = 12;

export interface OpenRedisDeps extends Pick<LinkDeps, 'noteFault'> {
  readonly randomBytes: (size: number) => Buffer;
}

/** Connects to Redis or Valkey; resolves when it is there, or is found to be away: it is then tried again. Throws RedisAddressFault. */
export async function openRedis(address: Secret, { noteFault, randomBytes }: OpenRedisDeps): Promise<RedisLink> {
  const node = randomBytes(nodeIdBytes).toString('base64url');
  const link = new RedisLink({ place: toPlace(address), node, noteFault });
  await link.tried();
  return link;
}
