import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign, type webcrypto } from 'node:crypto';
import type { Issuer } from './support.ts';

/** A token of any header and payload, as texts or values, signed or not. */
export function forge(header: unknown, payload: unknown, signature: (input: string) => Buffer): string {
  const input = `${toPart(header)}.${toPart(payload)}`;
  return `${input}.${signature(input).toString('base64url')}`;
}

export const unsigned = (): Buffer => Buffer.alloc(0);
export const rsa = (key: KeyObject) => (input: string) => sign('sha256', Buffer.from(input), key);
export const hmac = (secret: string | Buffer) => (input: string) => createHmac('sha256', secret).update(input).digest();

/** A key of nobody's. */
export function strangersKey(): { readonly key: KeyObject; readonly jwk: webcrypto.JsonWebKey } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { key: privateKey, jwk: publicKey.export({ format: 'jwk' }) };
}

/** The key that an issuer signs with. */
export function keyOf({ server }: Issuer): KeyObject {
  const [jwk] = server.issuer.keys.toJSON(true);
  return createPrivateKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
}

export function partsOf(token: string): [header: string, payload: string, signature: string] {
  return token.split('.') as [string, string, string];
}

export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(partsOf(token)[1], 'base64url').toString()) as Record<string, unknown>;
}

export function toPart(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}
