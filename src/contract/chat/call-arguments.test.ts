import fc from 'fast-check';
import '#test/same-cases.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallArguments } from '#contract/chat/call-arguments.ts';
import { delta } from '#test/chunks.ts';
import { ReplyEvents } from './reply-events.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe('CallArguments', () => {
  it('is complete after a piece exactly if the text is a JSON object', () => {
    const json = fc.jsonValue().map((value) => JSON.stringify(value));
    const odd = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', '\n', '\u00a0', '1', '"a":', '{}'));
    const piece = fc.oneof(
      odd.map((parts) => parts.join('')),
      json,
      fc.tuple(fc.string(), json).map(([key, value]) => `{${JSON.stringify(key)}:${value}}`),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        const args = new CallArguments();
        const text = pieces.join('');
        for (let index = 0; index < text.length; index += size) {
          args.add(text.slice(index, index + size));
          expect(args.isWhole).toBe(isObject(text.slice(0, index + size)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('parses the arguments once, regardless of the number of pieces while another call waits', () => {
    const call = (index: number, args: string, name?: string) =>
      delta({
        tool_calls: [{ index, ...(name !== undefined && { id: name }), function: { arguments: args, ...(name && { name }) } }],
      });
    const events = new ReplyEvents({ messageId: 'msg_1', model: 'gpt', promptTokens: 1, toToolName: (name) => name });
    const parse = vi.spyOn(JSON, 'parse');
    events.add(call(0, '{"list":[{}', 'first'));
    events.add(call(1, '{', 'second'));
    for (let nth = 0; nth < 100; nth += 1) events.add(call(0, ',{}'));
    for (const [index, rest] of [']}', '}'].entries()) events.add(call(index, rest));
    events.end();
    expect(parse).toHaveBeenCalledTimes(2);
  });
});
