import { describe, expect, it } from 'vitest';
import { getAcceptedMedia, toMediaMessages } from './tool-media.ts';

const png = (length: number): string => Buffer.from('\x89PNG'.padEnd(length, '.'), 'latin1').toString('base64');
const createMedia = (...data: readonly string[]) => [
  { tool: 'draw', attachments: data.map((each) => ({ title: 'Image', data: each })) },
];
const accepted = { types: ['image/*'], maxCount: 8 };

describe('toMediaMessages', () => {
  it('bounds the media of a complete run', () => {
    const large = png(3_000_000);
    const first = toMediaMessages(createMedia(large, large, large), accepted, []);
    expect(first[0]?.custom_content?.attachments).toHaveLength(3);
    const second = toMediaMessages(createMedia(large, large, large, png(30)), accepted, first);
    expect(second[0]?.custom_content?.attachments?.map(({ data }) => data?.length)).toEqual([4_000_000, png(30).length]);
  });

  it('describes each item in one line, regardless of its title', () => {
    const [message] = toMediaMessages(
      [{ tool: 'draw', attachments: [{ title: `a\n\n# b ${'x'.repeat(500)}`, data: png(30) }] }],
      accepted,
      [],
    );
    expect(message?.content).toMatch(/^Shown by tools, not said by the user:\n1\. a # b x{60,80} \(image\/png\), by draw$/);
  });

  it('does not split a character at the end of a long title', () => {
    const [message] = toMediaMessages(
      [{ tool: 'draw', attachments: [{ title: `${'x'.repeat(79)}😀`, data: png(30) }] }],
      accepted,
      [],
    );
    expect(message?.content).toSatisfy((content: string) => content.isWellFormed());
  });

  it.each([
    ['invalid base64', `${png(30).slice(0, -4)}<>..`],
    ['truncated base64', png(30).slice(0, -3)],
    ['empty data', ''],
    ['a URL', 'https://host.example/a.png'],
  ])('ignores %s', (_description, data) => {
    expect(toMediaMessages(createMedia(data), accepted, [])).toEqual([]);
  });
});

it('getAcceptedMedia returns undefined for an unknown model', () => {
  expect(getAcceptedMedia(undefined)).toBeUndefined();
});
