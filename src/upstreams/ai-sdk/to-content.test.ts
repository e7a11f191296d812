import { describe, expect, it } from 'vitest';
import type { Message } from '#contract/chat/message.ts';
import { toParts, toTexts } from './to-content.ts';
import { type VendorName, vendors } from './vendors.ts';

function convertContent(vendor: VendorName, ...content: object[]): object[] {
  return toParts(content as Exclude<Message['content'], string | null | undefined>, 'messages[0].content', vendors[vendor]);
}

const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const file = (file_data: string, filename?: string) => ({ type: 'file', file: { file_data, ...(filename && { filename }) } });
const inline = (mediaType: string, data: string, fields: object = {}) => ({
  type: 'file',
  mediaType,
  data: { type: 'data', data },
  ...fields,
});
const rejection = (feature: string) => ({
  kind: 'refused',
  status: 400,
  param: 'messages[0].content[0]',
  message: `The upstream of this model does not accept ${feature}.`,
});

describe('toParts', () => {
  it('accepts text and omits blank text', () => {
    expect(
      convertContent('gemini', { type: 'text', text: 'a' }, { type: 'text', text: ' \n' }, { type: 'refusal', refusal: 'no' }),
    ).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'no' },
    ]);
    expect([toParts('x', '', vendors.gemini), toParts(' ', '', vendors.gemini), toParts(null, '', vendors.gemini)]).toEqual([
      [{ type: 'text', text: 'x' }],
      [],
      [],
    ]);
  });

  it.each(['gemini', 'vertex', 'bedrock', 'mistral'] as const)('sends images and documents to %s inline', (vendor) => {
    expect(convertContent(vendor, image('data:image/jpg;base64,/9j/'), file('JVBERi0=', 'a.pdf'))).toEqual([
      inline('image/jpeg', '/9j/'),
      inline('application/pdf', 'JVBERi0=', { filename: 'a.pdf' }),
    ]);
  });

  it('passes URLs to vendors that fetch them, with the media type of their extension', () => {
    const at = (url: string, mediaType: string) => ({
      type: 'file',
      mediaType,
      data: { type: 'url', url: new URL(url) },
    });
    const [web, bucket] = ['https://example.org/a.PNG?x=1', 'gs://bucket/a'];
    expect(convertContent('gemini', image(web), image(bucket))).toEqual([at(web, 'image/png'), at(bucket, 'image/jpeg')]);
    expect(convertContent('mistral', file('https://example.org/b'))).toEqual([at('https://example.org/b', 'application/pdf')]);
    expect(convertContent('bedrock', image('s3://bucket/a.png'))).toEqual([at('s3://bucket/a.png', 'image/png')]);
  });

  it.each([
    ['bedrock', image('https://example.org/a.png'), 'files at https:// URLs (send the data inline)'],
    ['gemini', image('file:///etc/passwd'), 'files at file:// URLs (send the data inline)'],
    ['mistral', image('javascript:1'), 'files at javascript:// URLs (send the data inline)'],
    ['gemini', image('not a url'), 'an invalid URL'],
    ['gemini', image('data:image/png'), 'a data: URL without data'],
    ['gemini', { type: 'image_url' }, 'an image without a URL'],
    ['gemini', { type: 'input_audio', input_audio: { data: 'x' } }, 'audio without data and format'],
    ['mistral', { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }, 'files of the type audio/wav'],
    ['bedrock', image('data:image/tiff;base64,x'), 'files of the type image/tiff'],
    ['vertex', { type: 'file', file: { file_id: 'f' } }, 'a file ID'],
    ['gemini', { type: 'file', file: {} }, 'a file without data'],
    ['gemini', { type: 'video_url', video_url: {} }, 'a part of the type video_url'],
  ] as [VendorName, object, string][])('rejects for %s the part %j', (vendor, part, feature) => {
    expect(() => convertContent(vendor, part)).toThrow(expect.objectContaining(rejection(feature)));
  });

  it('sends audio and file IDs to Gemini', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } };
    expect(convertContent('gemini', audio, { type: 'file', file: { file_id: 'https://x/files/1', filename: 'a.txt' } })).toEqual([
      inline('audio/wav', 'UklG'),
      { type: 'file', mediaType: 'text/plain', data: { type: 'reference', reference: { google: 'https://x/files/1' } } },
    ]);
  });

  it('sends a text file as text if the vendor does not accept its type', () => {
    const csv = file('data:text/csv;charset=utf-8,a%2Cb%0A%C3%A4', 'a.csv');
    expect(convertContent('mistral', csv)).toEqual([{ type: 'text', text: 'a.csv:\na,b\nä' }]);
    expect(convertContent('bedrock', csv)).toEqual([
      inline('text/csv', Buffer.from('a,b\nä').toString('base64'), { filename: 'a.csv' }),
    ]);
    expect(convertContent('bedrock', file('data:application/json,{}'))).toEqual([{ type: 'text', text: '{}' }]);
  });

  it('adds a cache point only for Bedrock', () => {
    const part = { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } };
    const cachePoint = { type: 'default', ttl: '1h' };
    expect(convertContent('bedrock', part)).toEqual([
      { type: 'text', text: 'a', providerOptions: { amazonBedrock: { cachePoint } } },
    ]);
    expect(convertContent('gemini', part)).toEqual([{ type: 'text', text: 'a' }]);
  });
});

describe('toTexts', () => {
  it('rejects files', () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,x' } }];
    expect(() => toTexts(content, 'messages[3].content', vendors.gemini)).toThrow(
      expect.objectContaining({ status: 400, param: 'messages[3].content' }),
    );
  });
});
