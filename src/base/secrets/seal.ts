import {
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { Secret } from './secret.ts';

/** Thrown if a sealed text was altered, or if its context or secret differs. Clients can receive the message. */
export class SealError extends Error {
  override readonly name: string = 'SealError';
}

/** Thrown if a text was sealed with a secret that is no longer configured, for example after a rotation. */
export class UnknownSecretError extends SealError {
  override readonly name = 'UnknownSecretError';
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const sealedPattern = /^s1\.([\w-]{8})\.([\w-]+)$/;

/** Parses the comma-separated secrets of `PARLEY_SECRET`, newest first. Returns an empty list if there are none. */
export function toSecrets(text: string): readonly Secret[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => new Secret(part));
}

/** Returns a random secret in base64url, by default of 256 bits. */
export function createRandomSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/** Keys that are derived from one secret. */
class Key {
  /** Identifies the secret without revealing it. */
  readonly id: string;
  readonly #secret: Secret;
  readonly #derived = new Map<string, Buffer>();

  constructor(secret: Secret) {
    this.#secret = secret;
    this.id = this.derive('id').subarray(0, 6).toString('base64url');
  }

  derive(use: string): Buffer {
    let derived = this.#derived.get(use);
    if (derived === undefined) {
      derived = Buffer.from(hkdfSync('sha256', this.#secret.reveal(), '', `parley ${use}`, keyBytes));
      this.#derived.set(use, derived);
    }
    return derived;
  }
}

/** A cipher for one text. Its nonce is never reused. */
interface Cipher {
  readonly nonce: Buffer;
  readonly cipher: CipherGCM;
}

function toCipher(key: Buffer): Cipher {
  const nonce = randomBytes(nonceBytes);
  return { nonce, cipher: createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }) };
}

/**
 * Encrypts and signs texts with keys that are derived from secrets. The first secret seals and signs, and all secrets open and
 * verify. To rotate a secret, put the new one first.
 */
export class Seal {
  readonly #newest: Key;
  readonly #keys: ReadonlyMap<string, Key>;
  /** A cipher that is prepared while the event loop is idle, because creating it takes half of the time to seal a short text. */
  #spareCipher: Cipher | undefined;
  #isSpareDue = false;

  constructor(secrets: readonly Secret[]) {
    const [newest, ...older] = secrets.map((secret) => new Key(secret));
    if (newest === undefined) throw new RangeError('at least one secret is needed');
    this.#newest = newest;
    this.#keys = new Map([...older, newest].map((key) => [key.id, key]));
  }

  /** Encrypts a text with AES-256-GCM. It opens only with the same `context`, which identifies its stored field. */
  seal(text: string, context: string): string {
    const { nonce, cipher } = this.#takeCipher();
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${this.newestPrefix}${sealed.toString('base64url')}`;
  }

  #takeCipher(): Cipher {
    const cipher = this.#spareCipher ?? toCipher(this.#newest.derive('seal'));
    this.#spareCipher = undefined;
    if (!this.#isSpareDue) {
      this.#isSpareDue = true;
      setImmediate(() => {
        this.#isSpareDue = false;
        this.#spareCipher ??= toCipher(this.#newest.derive('seal'));
      });
    }
    return cipher;
  }

  /** Decrypts a text that was sealed for this context. Throws `SealError`. */
  open(sealed: string, context: string): string {
    const [, id = '', encoded = ''] = sealedPattern.exec(sealed) ?? [];
    const key = this.#keys.get(id);
    const bytes = Buffer.from(encoded, 'base64url');
    if (bytes.length < nonceBytes + tagBytes) throw new SealError('the text is not sealed');
    if (key === undefined) throw new UnknownSecretError('the text was sealed with an unknown secret');
    const options = { authTagLength: tagBytes };
    const decipher = createDecipheriv(algorithm, key.derive('seal'), bytes.subarray(0, nonceBytes), options);
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
    } catch (cause) {
      throw new SealError('the sealed text was altered or was sealed for another context', { cause });
    }
  }

  /** Start of each text that the newest secret sealed. Seal other texts again before you remove an older secret. */
  get newestPrefix(): string {
    return `s1.${this.#newest.id}.`;
  }

  get hasOlderSecrets(): boolean {
    return this.#keys.size > 1;
  }

  /** Signs a text with HMAC-SHA256. The signature is valid only for one purpose, which is a constant of the program. */
  sign(text: string, purpose: string): string {
    return createSignature(this.#newest, text, purpose);
  }

  /** Returns in constant time whether the signature is valid for this text and purpose with any of the secrets. */
  verify(text: string, signatureText: string, purpose: string): boolean {
    const key = this.#keys.get(signatureText.slice(0, signatureText.indexOf('.')));
    if (key === undefined) return false;
    const expected = Buffer.from(createSignature(key, text, purpose));
    const actual = Buffer.from(signatureText);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }
}

function createSignature(key: Key, text: string, purpose: string): string {
  return `${key.id}.${createHmac('sha256', key.derive(`sign ${purpose}`))
    .update(text)
    .digest('base64url')}`;
}
