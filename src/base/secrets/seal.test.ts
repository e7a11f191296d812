import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { Seal, SealError, toSecrets } from './seal.ts';
import { Secret } from './secret.ts';

const [older, newer] = [new Secret('the secret of last year'), new Secret('the secret of this year')];
const seal = new Seal([newer]);
const rotating = new Seal([newer, older]);

/** The same text with one character changed for another of its alphabet. */
function changed(text: string, index: number): string {
  return text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1);
}

describe('a sealed text', () => {
  it('opens as it was sealed, whatever it is', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (one, place) => {
        expect(seal.open(seal.seal(one, place), place)).toBe(one);
      }),
    );
  });

  it('shows nothing of what it holds, and is another each time', () => {
    const sealed = seal.seal('{"key":"canary"}', 'row');
    expect(sealed).toMatch(/^s1\.[\w-]{8}\.[\w-]+$/);
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('canary');
    expect(seal.seal('{"key":"canary"}', 'row')).not.toBe(sealed);
  });

  it('has a nonce of its own, also where its cipher was made ahead', async () => {
    const nonces = new Set<string>();
    for (let nth = 0; nth < 100; nth += 1) {
      for (const text of ['one', 'two']) nonces.add((seal.seal(text, 'row').split('.')[2] ?? '').slice(0, 16));
      await new Promise(setImmediate);
    }
    expect(nonces.size).toBe(200);
  });

  it('does not open in another place', () => {
    const sealed = seal.seal('text', 'row 1');
    for (const place of ['row 2', 'row 1 ', 'Row 1', '']) expect(() => seal.open(sealed, place)).toThrow(SealError);
  });

  it('does not open once a single character of it was changed', () => {
    const sealed = seal.seal('some text', 'row');
    for (let index = 0; index < sealed.length - 1; index += 1) {
      expect(() => seal.open(changed(sealed, index), 'row')).toThrow(SealError);
    }
  });

  it('does not open once it was cut, lengthened, or never was one', () => {
    const sealed = seal.seal('some text', 'row');
    const [, id] = sealed.split('.');
    for (const length of [0, 1, 10, 20, 40, sealed.length - 1]) {
      expect(() => seal.open(sealed.slice(0, length), 'row')).toThrow(SealError);
    }
    for (const other of [`${sealed}A`, `${sealed}\n`, ` ${sealed}`, `s2${sealed.slice(2)}`, `s1.${id}.`, '{"key":"plain"}']) {
      expect(() => seal.open(other, 'row')).toThrow(SealError);
    }
  });

  it('opens with any of the secrets, and is sealed with the first', () => {
    const old = new Seal([older]).seal('text', 'row');
    expect(rotating.open(old, 'row')).toBe('text');
    expect(rotating.isOutdated(old)).toBe(true);
    const sealedAnew = rotating.seal('text', 'row');
    expect(rotating.isOutdated(sealedAnew)).toBe(false);
    expect(seal.open(sealedAnew, 'row')).toBe('text');
    expect(() => seal.open(old, 'row')).toThrow('not at hand');
    expect(() => new Seal([older]).open(sealedAnew, 'row')).toThrow('not at hand');
  });

  it('opens after years, in every later version', () => {
    expect(seal.open('s1.XwrpQYHr.OqFXa7qqpL9WFsAUarYy7z-yiX1pss8jVbcuslBvrNA', 'row')).toBe('text');
    expect(seal.verify('text', 'XwrpQYHr.YX_UUoJFTpiaEiZQtP-5mnP6YgpqBh37HnKYPb-4FVA', 'state')).toBe(true);
  });

  it('tells no secret where it does not open', () => {
    const thrown = (() => {
      try {
        return seal.open(changed(seal.seal('canary', 'row'), 30), 'row');
      } catch (fault) {
        return fault as SealError;
      }
    })();
    expect(thrown).toBeInstanceOf(SealError);
    expect(JSON.stringify(seal) + String(thrown)).not.toMatch(/canary|secret of/);
  });
});

describe('a signature', () => {
  it('holds for its text and its purpose only', () => {
    const signature = seal.sign('text', 'state');
    expect(seal.verify('text', signature, 'state')).toBe(true);
    expect(seal.verify('text ', signature, 'state')).toBe(false);
    expect(seal.verify('text', signature, 'control')).toBe(false);
    expect(seal.verify('text', signature, 'state ')).toBe(false);
  });

  it('is the same each time, another for each text, and nobody can make it without the secret', () => {
    expect(seal.sign('text', 'state')).toBe(seal.sign('text', 'state'));
    expect(seal.sign('text', 'state')).not.toBe(seal.sign('texT', 'state'));
    const foreign = new Seal([older]).sign('text', 'state');
    expect(seal.verify('text', foreign, 'state')).toBe(false);
    const [id] = seal.sign('text', 'state').split('.');
    expect(seal.verify('text', `${id}.${foreign.split('.')[1]}`, 'state')).toBe(false);
  });

  it('does not hold once a single character of it was changed, added or taken away', () => {
    const signature = seal.sign('text', 'state');
    for (let index = 0; index < signature.length; index += 1) {
      expect(seal.verify('text', changed(signature, index), 'state')).toBe(false);
    }
    for (const other of ['', '.', signature.slice(0, -1), `${signature}A`, `${signature}=`, ` ${signature}`, 'ünïcödé']) {
      expect(seal.verify('text', other, 'state')).toBe(false);
    }
  });

  it('holds with any of the secrets, and is made with the first', () => {
    expect(rotating.verify('text', new Seal([older]).sign('text', 'state'), 'state')).toBe(true);
    expect(seal.verify('text', rotating.sign('text', 'state'), 'state')).toBe(true);
  });
});

describe('secrets', () => {
  it('are read from one text, the newest first', () => {
    const revealed = (text: string) => toSecrets(text).map((secret) => secret.reveal());
    expect(revealed('one')).toEqual(['one']);
    expect(revealed(' two , one ')).toEqual(['two', 'one']);
    expect(revealed('one,')).toEqual(['one']);
    expect(revealed(' , ')).toEqual([]);
  });

  it('are needed', () => {
    expect(() => new Seal([])).toThrow(RangeError);
  });
});
