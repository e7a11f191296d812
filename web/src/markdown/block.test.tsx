import { describe, expect, it } from 'vitest';
import { isRightToLeft } from './block.tsx';

describe('isRightToLeft', () => {
  it.each([
    ['مرحبا', true],
    ['שלום world', true],
    ['1. «مرحبا»', true],
    ['hello مرحبا', false],
    ['中文', false],
    ['123 – …', false],
    ['', false],
  ])('follows the first letter of %j', (text, expected) => {
    expect(isRightToLeft(text)).toBe(expected);
  });
});
