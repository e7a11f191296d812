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

/** A sealed text was altered, belongs elsewhere, or was sealed with a secret that is not at hand. The message may be shown. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const sealedForm = /^s1\.([\w-]{8})\.([\w-]+)$/;

/** Secrets of one text, separated by commas, newest first: what `PARLEY_SECRET` holds. Empty if there are none. */
export function toSecrets(text: string): readonly Secret[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => new Secret(part));
}

/** What is derived from one secret. */
class Key {
  /** Says which secret it was, and nothing of it. */
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

/** Of one text: a nonce is never used again. */
interface Cipher {
  readonly nonce: Buffer;
  readonly cipher: CipherGCM;
}

function toCipher(key: Buffer): Cipher {
  const nonce = randomBytes(nonceBytes);
  return { nonce, cipher: createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }) };
}

/**
 * Encrypts and signs texts with keys derived from secrets. The first secret seals and signs, all of them open and verify:
 * so a secret is changed by putting the new one first.
 */
export class Seal {
  readonly #newest: Key;
  readonly #keys: ReadonlyMap<string, Key>;
  /** Made ahead while nobody waits: half of what sealing a short text takes. */
  #spareCipher: Cipher | undefined;
  #isSpareDue = false;

  constructor(secrets: readonly Secret[]) {
    const [newest, ...older] = secrets.map((secret) => new Key(secret));
    if (newest === undefined) throw new RangeError('at least one secret is needed');
    this.#newest = newest;
    this.#keys = new Map([...older, newest].map((key) => [key.id, key]));
  }

  /** Encrypts a text (AES-256-GCM). It opens only if the same `place` is named: the id of the row it lies in. */
  seal(text: string, context: string): string {
    const { nonce, cipher } = this.#takeCipher();
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `s1.${this.#newest.id}.${sealed.toString('base64url')}`;
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

  /** The text that was sealed for this place. Throws SealFault. */
  open(sealed: string, context: string): string {
    const [, id = '', encoded = ''] = sealedForm.exec(sealed) ?? [];
    const key = this.#keys.get(id);
    const bytes = Buffer.from(encoded, 'base64url');
    if (bytes.length < nonceBytes + tagBytes) throw new SealError('this is not a sealed text');
    if (key === undefined) throw new SealError('the secret that this was sealed with is not at hand');
    const options = { authTagLength: tagBytes };
    const decipher = createDecipheriv(algorithm, key.derive('seal'), bytes.subarray(0, nonceBytes), options);
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
    } catch (cause) {
      throw new SealError('the sealed text was altered, or belongs elsewhere', { cause });
    }
  }

  /** Whether a text was sealed with an older secret, and should be sealed anew before that secret is given up. */
  isOutdated(sealed: string): boolean {
    return sealedForm.exec(sealed)?.[1] !== this.#newest.id;
  }

  /** Signs a text (HMAC-SHA256) for one purpose, a word of the program: it is not valid for another. */
  sign(text: string, purpose: string): string {
    return createSignature(this.#newest, text, purpose);
  }

  /** Whether the signature was given to this text for this purpose, with any of the secrets; in constant time. */
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
