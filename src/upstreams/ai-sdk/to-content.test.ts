import { describe, expect, it } from 'vitest';
import type { Message } from '#contract/chat/message.ts';
import { toParts, toTexts } from './to-content.ts';
import { type VendorName, vendors } from './vendors.ts';

function partsOf(vendor: VendorName, ...content: object[]): object[] {
  return toParts(content as Exclude<Message['content'], string | null | undefined>, 'messages[0].content', vendors[vendor]);
}

const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const file = (file_data: string, filename?: string) => ({ type: 'file', file: { file_data, ...(filename && { filename }) } });
const inline = (mediaType: string, data: string, more: object = {}) => ({
  type: 'file',
  mediaType,
  data: { type: 'data', data },
  ...more,
});
const refused = (what: string) => ({
  kind: 'refused',
  status: 400,
  param: 'messages[0].content[0]',
  message: `The upstream of this model does not accept ${what}.`,
});

describe('toParts', () => {
  it('takes text, and leaves out what is blank', () => {
    expect(
      partsOf('gemini', { type: 'text', text: 'a' }, { type: 'text', text: ' \n' }, { type: 'refusal', refusal: 'no' }),
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
    expect(partsOf(vendor, image('data:image/jpg;base64,/9j/'), file('JVBERi0=', 'a.pdf'))).toEqual([
      inline('image/jpeg', '/9j/'),
      inline('application/pdf', 'JVBERi0=', { filename: 'a.pdf' }),
    ]);
  });

  it('leaves addresses to vendors that fetch them, with the type that their ending tells', () => {
    const at = (address: string, mediaType: string) => ({
      type: 'file',
      mediaType,
      data: { type: 'url', url: new URL(address) },
    });
    const [web, bucket] = ['https://example.org/a.PNG?x=1', 'gs://bucket/a'];
    expect(partsOf('gemini', image(web), image(bucket))).toEqual([at(web, 'image/png'), at(bucket, 'image/jpeg')]);
    expect(partsOf('mistral', file('https://example.org/b'))).toEqual([at('https://example.org/b', 'application/pdf')]);
    expect(partsOf('bedrock', image('s3://bucket/a.png'))).toEqual([at('s3://bucket/a.png', 'image/png')]);
  });

  it.each([
    ['bedrock', image('https://example.org/a.png'), 'files at an address of the kind https:// (send the data itself)'],
    ['gemini', image('file:///etc/passwd'), 'files at an address of the kind file:// (send the data itself)'],
    ['mistral', image('javascript:1'), 'files at an address of the kind javascript:// (send the data itself)'],
    ['gemini', image('no address'), 'an address that is none'],
    ['gemini', image('data:image/png'), 'a data: address without data'],
    ['gemini', { type: 'image_url' }, 'an image without an address'],
    ['gemini', { type: 'input_audio', input_audio: { data: 'x' } }, 'audio without data and format'],
    ['mistral', { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }, 'files of the type audio/wav'],
    ['bedrock', image('data:image/tiff;base64,x'), 'files of the type image/tiff'],
    ['vertex', { type: 'file', file: { file_id: 'f' } }, 'a file by its id'],
    ['gemini', { type: 'file', file: {} }, 'a file without data'],
    ['gemini', { type: 'video_url', video_url: {} }, 'a part of the type video_url'],
  ] as [VendorName, object, string][])('%s refuses %j', (vendor, part, what) => {
    expect(() => partsOf(vendor, part)).toThrow(expect.objectContaining(refused(what)));
  });

  it('sends audio to Gemini, and files by their id', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } };
    expect(partsOf('gemini', audio, { type: 'file', file: { file_id: 'https://x/files/1', filename: 'a.txt' } })).toEqual([
      inline('audio/wav', 'UklG'),
      { type: 'file', mediaType: 'text/plain', data: { type: 'reference', reference: { google: 'https://x/files/1' } } },
    ]);
  });

  it('tells text that is no file to the vendor as text', () => {
    const csv = file('data:text/csv;charset=utf-8,a%2Cb%0A%C3%A4', 'a.csv');
    expect(partsOf('mistral', csv)).toEqual([{ type: 'text', text: 'a.csv:\na,b\nä' }]);
    expect(partsOf('bedrock', csv)).toEqual([
      inline('text/csv', Buffer.from('a,b\nä').toString('base64'), { filename: 'a.csv' }),
    ]);
    expect(partsOf('bedrock', file('data:application/json,{}'))).toEqual([{ type: 'text', text: '{}' }]);
  });

  it('marks where the cache of Bedrock ends, for Bedrock alone', () => {
    const part = { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } };
    const cachePoint = { type: 'default', ttl: '1h' };
    expect(partsOf('bedrock', part)).toEqual([{ type: 'text', text: 'a', providerOptions: { amazonBedrock: { cachePoint } } }]);
    expect(partsOf('gemini', part)).toEqual([{ type: 'text', text: 'a' }]);
  });
});

describe('toTexts', () => {
  it('refuses files', () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,x' } }];
    expect(() => toTexts(content, 'messages[3].content', vendors.gemini)).toThrow(
      expect.objectContaining({ status: 400, param: 'messages[3].content' }),
    );
  });
});
