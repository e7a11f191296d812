import { expect, it } from 'vitest';
import { withoutConsentPath } from './missing-consent.ts';

it.each([
  '. GET /v1/consent/app returns the form to accept',
  ', and your consent does not cover b. GET /v1/consent/app returns the current form',
  '; GET /v1/consent/app has the form to accept',
  ', and what you gave does not cover b; GET /v1/consent/app has the form of today',
])('withoutConsentPath() removes the path to the form from "…%s."', (hint) => {
  const [kept] = hint.split(/[.;]/);
  expect(withoutConsentPath(`a needs your consent before app may use it${hint}.`)).toBe(
    `a needs your consent before app may use it${kept}.`,
  );
});
