import { describe, expect, it } from 'vitest';
import { looksUnreadable } from './unreadable-document.ts';

describe('looksUnreadable', () => {
  it.each([
    ['photo.PNG', undefined, true],
    ['photo', 'image/png', true],
    ['talk.mp3', 'application/octet-stream', true],
    ['old.doc', 'application/msword', true],
    ['all.zip', undefined, true],
    ['new.docx', undefined, false],
    ['notes', undefined, false],
    ['folder/key', undefined, false],
    ['drawing.svg', 'image/svg+xml', false],
    ['program.ts', 'video/mp2t', false],
    ['report.pdf', 'application/pdf', false],
  ])('decides by the name %s and the type %s', (name, contentType, expected) => {
    expect(looksUnreadable(name, contentType)).toBe(expected);
  });
});
