import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign, type webcrypto } from 'node:crypto';
import type { Issuer } from './support.ts';

/** Creates a token with any header and payload, as strings or values, signed or unsigned. */
export function forge(header: unknown, payload: unknown, signature: (input: string) => Buffer): string {
  const input = `${encodePart(header)}.${encodePart(payload)}`;
  return `${input}.${signature(input).toString('base64url')}`;
}

export const unsigned = (): Buffer => Buffer.alloc(0);
export const rsa = (key: KeyObject) => (input: string) => sign('sha256', Buffer.from(input), key);
export const hmac = (secret: string | Buffer) => (input: string) => createHmac('sha256', secret).update(input).digest();

/** Generates a key that no provider uses. */
export function generateForeignKey(): { readonly key: KeyObject; readonly jwk: webcrypto.JsonWebKey } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { key: privateKey, jwk: publicKey.export({ format: 'jwk' }) };
}

/** Returns the signing key of an issuer. */
export function getSigningKey({ server }: Issuer): KeyObject {
  const [jwk] = server.issuer.keys.toJSON(true);
  return createPrivateKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
}

export function splitToken(token: string): [header: string, payload: string, signature: string] {
  return token.split('.') as [string, string, string];
}

export function decodeClaims(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(splitToken(token)[1], 'base64url').toString()) as Record<string, unknown>;
}

export function encodePart(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}
