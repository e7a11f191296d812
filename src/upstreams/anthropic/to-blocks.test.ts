import { describe, expect, it } from 'vitest';
import type { ContentPart } from '#contract/chat/message.ts';
import { toBlocks, toTextBlocks } from './to-turns.ts';

function toBlock(part: ContentPart) {
  return toBlocks([part], 'messages[0].content')[0];
}

const image = (url: string) => toBlock({ type: 'image_url', image_url: { url, detail: 'high' } });
const file = (fields: object) => toBlock({ type: 'file', file: fields });

describe('toBlocks', () => {
  it.each([
    ['Hi', [{ type: 'text', text: 'Hi' }]],
    ['', []],
    [' \n\t', []],
    [null, []],
    [undefined, []],
    [[], []],
  ])('converts the content %j to %j', (content, expected) => {
    expect(toBlocks(content, '')).toEqual(expected);
  });

  it('drops text parts that contain only white space, and preserves cache_control', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    expect(
      toBlocks([{ type: 'text', text: ' ' }, { type: 'text', text: 'a', cache_control, annotations: [] }, { type: 'text' }], ''),
    ).toEqual([{ type: 'text', text: 'a', cache_control }]);
    expect(toBlock({ type: 'image_url', image_url: { url: 'https://x.org/a' }, cache_control })).toMatchObject({ cache_control });
  });

  it.each([
    ['data:image/png;base64,aGk=', { type: 'base64', media_type: 'image/png', data: 'aGk=' }],
    ['DATA:IMAGE/JPG;charset=x;BASE64,aGk=', { type: 'base64', media_type: 'image/jpeg', data: 'aGk=' }],
    [
      'data:image/svg+xml,%3Csvg/%3E%',
      { type: 'base64', media_type: 'image/svg+xml', data: Buffer.from('<svg/>%').toString('base64') },
    ],
    ['data:,ä', { type: 'base64', media_type: 'text/plain', data: Buffer.from('ä').toString('base64') }],
    ['https://x.org/a.png', { type: 'url', url: 'https://x.org/a.png' }],
  ])('accepts the image %s', (url, source) => {
    expect(image(url)).toEqual({ type: 'image', source });
    expect(toBlock({ type: 'image_url', image_url: url })).toEqual({ type: 'image', source });
  });

  it.each([
    [
      { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
      { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
      'a.pdf',
    ],
    [{ file_data: 'aGk=' }, { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, undefined],
    [
      { filename: 'a.txt', file_data: 'data:text/csv;base64,w6Qsw7Y=' },
      { type: 'text', media_type: 'text/plain', data: 'ä,ö' },
      'a.txt',
    ],
    [{ file_data: 'https://x.org/a.pdf' }, { type: 'url', url: 'https://x.org/a.pdf' }, undefined],
    [{ file_id: 'file_1' }, { type: 'file', file_id: 'file_1' }, undefined],
  ])('accepts the file %j', (fields, source, title) => {
    expect(file(fields)).toEqual({ type: 'document', source, ...(title && { title }) });
  });

  it('converts a file with an image type to an image', () => {
    expect(file({ file_data: 'data:image/png;base64,aGk=' })).toMatchObject({
      type: 'image',
      source: { media_type: 'image/png' },
    });
  });

  it('returns blocks of the Messages API unchanged and converts a refusal to text', () => {
    const document = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'x' },
      citations: { enabled: true },
    };
    expect(toBlock(document)).toBe(document);
    expect(toBlock({ type: 'refusal', refusal: 'No.' })).toEqual({ type: 'text', text: 'No.' });
  });

  it.each([
    [{ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }, 'a part of the type input_audio'],
    [{ type: 'tool_result', tool_use_id: 'x' }, 'a part of the type tool_result'],
    [{ type: 'image_url' }, 'an image without a URL'],
    [{ type: 'image_url', image_url: { url: 'data:image/png' } }, 'a data: URL without data'],
    [{ type: 'file' }, 'a file without data'],
  ])('rejects %j', (part, description) => {
    expect(() => toBlocks([{ type: 'text', text: 'x' }, part], 'messages[3].content')).toThrow(
      expect.objectContaining({
        name: 'UpstreamError',
        status: 400,
        param: 'messages[3].content[1]',
        message: `The upstream of this model does not accept ${description}.`,
      }),
    );
  });

  it('rejects content other than text in a system message', () => {
    expect(toTextBlocks('Be brief.', '')).toEqual([{ type: 'text', text: 'Be brief.' }]);
    expect(() => toTextBlocks([{ type: 'image_url', image_url: 'https://x.org/a' }], 'messages[0].content')).toThrow(
      /system message/,
    );
  });
});
