import { expect, it } from 'vitest';
import { computeChallenge } from './authorization-code.ts';

it('computes the challenge of RFC 7636, appendix B', async () => {
  expect(await computeChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  );
});
