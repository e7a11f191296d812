import type { ContentBlock } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { toToolResult } from './to-tool-result.ts';

const mask = (text: string): string => text.replaceAll('canary', '***');
const convert = (...content: ContentBlock[]) => toToolResult({ content }, mask);

describe('toToolResult', () => {
  it('joins the text parts', () => {
    expect(convert({ type: 'text', text: 'one' }, { type: 'text', text: 'two' })).toEqual({
      text: 'one\n\ntwo',
      attachments: [],
      failed: false,
    });
  });

  it('uses the structured content if there is no text', () => {
    const structuredContent = { a: [1, 'canary'] };
    expect(toToolResult({ content: [], structuredContent }, mask).text).toBe('{"a":[1,"***"]}');
    expect(toToolResult({ content: [{ type: 'text', text: 'a' }], structuredContent }, mask).text).toBe('a');
  });

  it('decodes a resource of bytes if its type is text', () => {
    const blob = Buffer.from('größer').toString('base64');
    const { text, attachments } = convert({
      type: 'resource',
      resource: { uri: 'a:b', blob, mimeType: 'text/csv; charset=utf-8' },
    });
    expect([text, attachments]).toEqual(['größer', [expect.objectContaining({ type: 'text/csv', data: 'größer' })]]);
  });

  it('does not mask bytes, because short secrets match them by chance', () => {
    const { attachments } = convert({ type: 'image', data: 'AcanaryB', mimeType: 'image/png' });
    expect(attachments).toMatchObject([{ data: 'AcanaryB' }]);
  });

  it('masks credentials before it truncates titles', () => {
    const name = `${'n'.repeat(197)}canary`;
    const uri = `a:${'n'.repeat(195)}canary`;
    const blob = Buffer.from('canary').toString('base64');
    const { text, attachments } = convert(
      { type: 'resource_link', uri: 'a:b', name },
      { type: 'resource', resource: { uri, text: 'text' } },
      { type: 'resource', resource: { uri, blob, mimeType: 'text/plain' } },
    );
    expect(attachments.map(({ title, data }) => [title, data])).toEqual([
      [`${'n'.repeat(197)}***`, `${'n'.repeat(197)}***`],
      [`a:${'n'.repeat(195)}***`, 'text'],
      [`a:${'n'.repeat(195)}***`, '***'],
    ]);
    expect(text + JSON.stringify(attachments)).not.toContain('can');
  });

  it('drops references to addresses that execute or contain content', () => {
    const uris = ['javascript:alert(1)', ' JavaScript:alert(1)', 'data:text/html,x', 'vbscript:x', 'blob:x', 'no address'];
    for (const uri of uris) {
      const [attachment] = convert({ type: 'resource_link', uri, name: 'n' }).attachments;
      expect(attachment).toEqual({ type: 'text/markdown', title: 'n', data: 'n' });
    }
  });

  it.each(['', 'text', 'text/html\r\nx: y', '"><script>'])(
    'uses application/octet-stream for the invalid type %j',
    (mimeType) => {
      expect(convert({ type: 'image', data: 'AA==', mimeType }).attachments[0]?.type).toBe('application/octet-stream');
    },
  );

  it('limits the number of parts and the length of titles', () => {
    const { text, attachments } = convert(
      ...Array.from(
        { length: 300 },
        (_, nth): ContentBlock => ({ type: 'resource_link', uri: `a:${nth}`, name: 'n'.repeat(999) }),
      ),
    );
    expect(attachments).toHaveLength(200);
    expect(attachments[0]?.title?.length).toBeLessThan(300);
    expect(text).toContain('[100 more parts were left out.]');
  });

  it('reports a part of an unknown type', () => {
    expect(convert({ type: 'smell' } as unknown as ContentBlock).text).toBe('[A part of a kind that is not known was left out.]');
  });
});
