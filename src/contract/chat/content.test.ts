import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, test } from 'vitest';
import { toPlainRequest } from './content.ts';
import type { Attachment, CustomContent, Message } from './message.ts';

function toPlain(message: Message): Message | undefined {
  return toPlainRequest({ messages: [message] }).messages[0];
}

function user(custom_content: CustomContent, content: Message['content'] = 'Look.'): Message {
  return { role: 'user', content, custom_content };
}

function buildContent(...attachments: Attachment[]): unknown {
  return toPlain(user({ attachments }))?.content;
}

const look = { type: 'text', text: 'Look.' };
const url = 'https://a.example/x';

describe('toPlainRequest without custom content', () => {
  test('returns the same object', () => {
    const request = { messages: [{ role: 'user' as const, content: 'Hello' }], model: 'm' };
    expect(toPlainRequest(request)).toBe(request);
  });
});

describe('toPlainRequest with a message', () => {
  test('keeps other fields and does not modify the request', () => {
    const plain = { role: 'user' as const, content: 'Hello' };
    const request = { model: 'm', messages: [plain, { ...user({ state: {} }), name: 'a', x: 1 }], stream: true };
    const before = JSON.stringify(request);
    const plainRequest = toPlainRequest(request);
    expect(plainRequest).toStrictEqual({
      model: 'm',
      messages: [plain, { role: 'user', content: 'Look.', name: 'a', x: 1 }],
      stream: true,
    });
    expect(plainRequest.messages[0]).toBe(plain);
    expect(JSON.stringify(request)).toBe(before);
  });

  test('drops state, stages, controls, and unknown custom content', () => {
    const custom_content = { state: { a: 1 }, stages: [{ index: 0, name: 's' }], controls: [], form: {} };
    expect(toPlain({ role: 'assistant', content: 'Yes.', custom_content })).toStrictEqual({ role: 'assistant', content: 'Yes.' });
  });

  test('leaves a function call without content', () => {
    const function_call = { name: 'f', arguments: '{}' };
    const message: Message = { role: 'assistant', function_call, custom_content: { state: {} } };
    expect(toPlain(message)).toStrictEqual({ role: 'assistant', function_call });
  });
});

describe('toPlainRequest with an attachment of the user', () => {
  test.each<[name: string, attachment: Attachment, part: object]>([
    ['an image with a URL', { type: 'image/png', url }, { type: 'image_url', image_url: { url } }],
    [
      'an image in a data URL',
      { type: 'image/png', url: 'data:image/png;base64,AA==' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ],
    [
      'an image with its data',
      { type: 'image/png', data: 'AA==' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ],
    [
      'a PDF with its data',
      { type: 'application/pdf', title: 'a.pdf', data: 'AA==' },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
    ],
    [
      'a PDF without title',
      { type: 'application/pdf', data: 'AA==' },
      { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA==' } },
    ],
  ])('converts %s to a part', (_name, attachment, part) => {
    expect(buildContent(attachment)).toStrictEqual([look, part]);
  });

  test.each<[name: string, attachment: Attachment, text: string]>([
    ['markdown by default', { data: '# Hi' }, 'Attachment (text/markdown):\n# Hi'],
    ['plain text with a title', { type: 'text/plain', title: 'a.txt', data: 'Hi' }, 'Attachment "a.txt" (text/plain):\nHi'],
    ['CSV with a charset', { type: 'text/csv; charset=utf-8', data: 'a,b' }, 'Attachment (text/csv; charset=utf-8):\na,b'],
    ['JSON', { type: 'application/json', data: '{}' }, 'Attachment (application/json):\n{}'],
    ['a JSON-based type', { type: 'application/geo+json', data: '{}' }, 'Attachment (application/geo+json):\n{}'],
    ['text with a URL', { type: 'text/plain', title: 'a', url }, `Attachment "a" (text/plain): ${url}`],
    ['a PDF with a URL', { type: 'application/pdf', url }, `Attachment (application/pdf): ${url}`],
    ['a stored image', { type: 'image/png', url: 'files/b/a.png' }, 'Attachment (image/png): files/b/a.png'],
    [
      'binary data of another type, without the data',
      { type: 'application/zip', title: 'a.zip', data: 'AA==' },
      'Attachment "a.zip" (application/zip)',
    ],
  ])('converts %s to text', (_name, attachment, text) => {
    expect(buildContent(attachment)).toBe(`Look.\n\n${text}`);
  });

  test('appends it to existing parts', () => {
    const part = { type: 'of_tomorrow', x: 1 };
    expect(toPlain(user({ attachments: [{ type: 'image/png', url }] }, [part]))?.content).toStrictEqual([
      part,
      { type: 'image_url', image_url: { url } },
    ]);
  });

  test('replaces an empty text', () => {
    expect(toPlain(user({ attachments: [{ data: 'Hi' }] }, ''))?.content).toBe('Attachment (text/markdown):\nHi');
  });

  test('keeps the order of attachments', () => {
    const content = buildContent({ data: 'a' }, { type: 'image/png', url }, { data: 'b' }) as { type: string }[];
    expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'image_url', 'text']);
  });
});

describe('toPlainRequest with an attachment of the assistant', () => {
  test.each<[attachment: Attachment, text: string]>([
    [{ type: 'image/png', title: 'Map', url }, `Attachment "Map" (image/png): ${url}`],
    [{ type: 'image/png', data: 'AA==' }, 'Attachment (image/png)'],
    [{ type: 'application/pdf', data: 'AA==' }, 'Attachment (application/pdf)'],
    [{ type: 'text/plain', data: 'Hi' }, 'Attachment (text/plain):\nHi'],
  ])('converts %j to text, because only users may send images and files', (attachment, text) => {
    const message: Message = { role: 'assistant', content: 'Here.', custom_content: { attachments: [attachment] } };
    expect(toPlain(message)).toStrictEqual({ role: 'assistant', content: `Here.\n\n${text}` });
  });
});

describe('toPlainRequest with a completed control', () => {
  test.each<[custom: CustomContent, content: Message['content'] | undefined, text: string]>([
    [{ completed_control: { label: 'Yes' } }, undefined, 'Yes'],
    [{ completed_control: { label: 'Book', value: { seats: 2 } } }, undefined, 'Book: {"seats":2}'],
    [{ completed_control: { label: 'Book', value: {} } }, null, 'Book: {}'],
    [{ completed_control: { label: 'Book', value: { seats: 2 } } }, 'Please.', 'Please.\n\nBook: {"seats":2}'],
    [{ completed_control: { label: 'Yes' }, attachments: [{ data: 'a' }] }, undefined, 'Yes\n\nAttachment (text/markdown):\na'],
  ])('converts %j with content %j to text', (custom_content, content, text) => {
    const message: Message = { role: 'user', ...(content !== undefined && { content }), custom_content };
    expect(toPlain(message)).toStrictEqual({ role: 'user', content: text });
  });
});

describe('toPlainRequest with any attachments', () => {
  const text = fc.string();
  const attachment = fc.oneof(fc.record({ type: text, data: text }), fc.record({ type: text, title: text, url: text }));

  test('removes custom content and returns only parts with a type', () => {
    fc.assert(
      fc.property(
        fc.array(attachment, { minLength: 1 }),
        fc.constantFrom('user', 'assistant', 'function'),
        (attachments, role) => {
          const plainMessage = toPlain({ role, content: 'a', custom_content: { attachments } });
          expect(plainMessage).not.toHaveProperty('custom_content');
          const content = plainMessage?.content ?? [];
          if (typeof content !== 'string') expect(content.every(({ type }) => type.length > 0)).toBe(true);
        },
      ),
    );
  });
});
