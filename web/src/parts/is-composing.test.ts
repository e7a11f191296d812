import { describe, expect, it } from 'vitest';
import { isComposing } from './is-composing.ts';

describe('isComposing', () => {
  it.each([
    ['an Enter of the user', { isComposing: false, keyCode: 13 }, false],
    ['the Enter that confirms a candidate, before compositionend (Chromium, Firefox)', { isComposing: true, keyCode: 229 }, true],
    ['the same in Firefox before version 65', { isComposing: true, keyCode: 13 }, true],
    ['the same after compositionend (Safari)', { isComposing: false, keyCode: 229 }, true],
  ])('classifies %s', (_what, event, expected) => {
    expect(isComposing(event)).toBe(expected);
  });
});
