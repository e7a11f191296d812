import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { Seal, SealError, toSecrets } from './seal.ts';
import { Secret } from './secret.ts';

const [older, newer] = [new Secret('the secret of last year'), new Secret('the secret of this year')];
const seal = new Seal([newer]);
const rotating = new Seal([newer, older]);

/** Returns the text with one character replaced by another of its alphabet. */
function withChange(text: string, index: number): string {
  return text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1);
}

describe('Seal.seal', () => {
  it('returns a text that opens to the original', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (one, context) => {
        expect(seal.open(seal.seal(one, context), context)).toBe(one);
      }),
    );
  });

  it('hides the content and returns a different text each time', () => {
    const sealed = seal.seal('{"key":"canary"}', 'row');
    expect(sealed).toMatch(/^s1\.[\w-]{8}\.[\w-]+$/);
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('canary');
    expect(seal.seal('{"key":"canary"}', 'row')).not.toBe(sealed);
  });

  it('uses a new nonce each time, also with a prepared cipher', async () => {
    const nonces = new Set<string>();
    for (let nth = 0; nth < 100; nth += 1) {
      for (const text of ['one', 'two']) nonces.add((seal.seal(text, 'row').split('.')[2] ?? '').slice(0, 16));
      await new Promise(setImmediate);
    }
    expect(nonces.size).toBe(200);
  });

  it('returns a text that does not open in another context', () => {
    const sealed = seal.seal('text', 'row 1');
    for (const context of ['row 2', 'row 1 ', 'Row 1', '']) expect(() => seal.open(sealed, context)).toThrow(SealError);
  });

  it('returns a text that does not open if a single character is changed', () => {
    const sealed = seal.seal('some text', 'row');
    for (let index = 0; index < sealed.length - 1; index += 1) {
      expect(() => seal.open(withChange(sealed, index), 'row')).toThrow(SealError);
    }
  });

  it('returns a text that does not open if it is truncated, extended, or in another format', () => {
    const sealed = seal.seal('some text', 'row');
    const [, id] = sealed.split('.');
    for (const length of [0, 1, 10, 20, 40, sealed.length - 1]) {
      expect(() => seal.open(sealed.slice(0, length), 'row')).toThrow(SealError);
    }
    for (const other of [`${sealed}A`, `${sealed}\n`, ` ${sealed}`, `s2${sealed.slice(2)}`, `s1.${id}.`, '{"key":"plain"}']) {
      expect(() => seal.open(other, 'row')).toThrow(SealError);
    }
  });

  it('uses the first secret, and `open` accepts any of the secrets', () => {
    const old = new Seal([older]).seal('text', 'row');
    expect(rotating.open(old, 'row')).toBe('text');
    expect(old.startsWith(rotating.newestPrefix)).toBe(false);
    const resealed = rotating.seal('text', 'row');
    expect(resealed.startsWith(rotating.newestPrefix)).toBe(true);
    expect([rotating.hasOlderSecrets, seal.hasOlderSecrets]).toEqual([true, false]);
    expect(seal.open(resealed, 'row')).toBe('text');
    expect(() => seal.open(old, 'row')).toThrow('sealed with an unknown secret');
    expect(() => new Seal([older]).open(resealed, 'row')).toThrow('sealed with an unknown secret');
  });

  it('has a stable format, so that later versions open old texts', () => {
    expect(seal.open('s1.XwrpQYHr.OqFXa7qqpL9WFsAUarYy7z-yiX1pss8jVbcuslBvrNA', 'row')).toBe('text');
    expect(seal.verify('text', 'XwrpQYHr.YX_UUoJFTpiaEiZQtP-5mnP6YgpqBh37HnKYPb-4FVA', 'state')).toBe(true);
  });

  it('reveals no secret if the text does not open', () => {
    const thrownError = (() => {
      try {
        return seal.open(withChange(seal.seal('canary', 'row'), 30), 'row');
      } catch (caught) {
        return caught as SealError;
      }
    })();
    expect(thrownError).toBeInstanceOf(SealError);
    expect(JSON.stringify(seal) + String(thrownError)).not.toMatch(/canary|secret of/);
  });
});

describe('Seal.sign', () => {
  it('returns a signature that is valid only for its text and purpose', () => {
    const signature = seal.sign('text', 'state');
    expect(seal.verify('text', signature, 'state')).toBe(true);
    expect(seal.verify('text ', signature, 'state')).toBe(false);
    expect(seal.verify('text', signature, 'control')).toBe(false);
    expect(seal.verify('text', signature, 'state ')).toBe(false);
  });

  it('is deterministic, differs per text, and depends on the secret', () => {
    expect(seal.sign('text', 'state')).toBe(seal.sign('text', 'state'));
    expect(seal.sign('text', 'state')).not.toBe(seal.sign('texT', 'state'));
    const foreign = new Seal([older]).sign('text', 'state');
    expect(seal.verify('text', foreign, 'state')).toBe(false);
    const [id] = seal.sign('text', 'state').split('.');
    expect(seal.verify('text', `${id}.${foreign.split('.')[1]}`, 'state')).toBe(false);
  });

  it('returns a signature that is invalid if a single character is changed, added, or removed', () => {
    const signature = seal.sign('text', 'state');
    for (let index = 0; index < signature.length; index += 1) {
      expect(seal.verify('text', withChange(signature, index), 'state')).toBe(false);
    }
    for (const other of ['', '.', signature.slice(0, -1), `${signature}A`, `${signature}=`, ` ${signature}`, 'ünïcödé']) {
      expect(seal.verify('text', other, 'state')).toBe(false);
    }
  });

  it('uses the first secret, and `verify` accepts any of the secrets', () => {
    expect(rotating.verify('text', new Seal([older]).sign('text', 'state'), 'state')).toBe(true);
    expect(seal.verify('text', rotating.sign('text', 'state'), 'state')).toBe(true);
  });
});

describe('toSecrets', () => {
  it('reads the secrets from one text, newest first', () => {
    const revealed = (text: string) => toSecrets(text).map((secret) => secret.reveal());
    expect(revealed('one')).toEqual(['one']);
    expect(revealed(' two , one ')).toEqual(['two', 'one']);
    expect(revealed('one,')).toEqual(['one']);
    expect(revealed(' , ')).toEqual([]);
  });

  it('may return no secrets, which `Seal` rejects', () => {
    expect(() => new Seal([])).toThrow(RangeError);
  });
});
