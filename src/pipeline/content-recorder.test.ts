import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Frame, type Native } from '#contract/chat/frame.ts';
import type { ReplySink, Target } from '#domain/calls/call.ts';
import { fixture } from '#test/anthropic-streams.ts';
import { delta, finish, text } from '#test/chunks.ts';
import { ContentRecorder } from './content-recorder.ts';

const request: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };

function record(frames: readonly Frame[], maxContentBytes = 65_536) {
  const forwardedFrames: Frame[] = [];
  const reply: ReplySink = { push: (frame) => void forwardedFrames.push(frame), end() {}, fail() {} };
  const target = { snapshot: { configuration: { records: { maxContentBytes } } } } as unknown as Target;
  const recorder = new ContentRecorder(request, target, reply);
  for (const frame of frames) recorder.push(frame);
  recorder.end();
  expect(forwardedFrames).toEqual(frames);
  return recorder.toContent();
}

function toEvents(events: readonly { readonly type: string; readonly [field: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function relayed(dialect: Native['dialect'], bytes: string, isCompleteReply: boolean): Frame {
  return Frame.ofNative(bytes, { dialect, isCompleteReply, isLast: true, textBytes: bytes.length, usage: undefined });
}

describe('ContentRecorder', () => {
  it('translates relayed replies to chat completions', () => {
    const message = { id: 'msg', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn' };
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }];
    const response = { id: 'resp', status: 'completed', output };
    const events = toEvents([
      { type: 'response.created', response: { id: 'resp' } },
      { type: 'response.output_text.delta', item_id: 'i', delta: 'Hi' },
      { type: 'response.output_text.delta', item_id: 'i', delta: '.' },
      { type: 'response.completed', response },
    ]);
    for (const frame of [
      relayed('messages', JSON.stringify(message), true),
      relayed('responses', JSON.stringify(response), true),
      relayed('responses', events, false),
    ]) {
      expect(record([frame])).toMatchObject({
        isTruncated: false,
        reply: { choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }] },
      });
    }
  });

  it('translates relayed streams of the Messages API that arrive in several reads', () => {
    const events = fixture('tools-parallel').split(/(?<=\n\n)/);
    const frames = [events.slice(0, 5), events.slice(5)].map((part) => relayed('messages', part.join(''), false));
    const { choices } = record(frames).reply as { choices: readonly unknown[] };
    expect(choices).toMatchObject([
      { message: { tool_calls: [{ id: 'toolu_01A' }, { id: 'toolu_01B' }, { id: 'toolu_01C' }] }, finish_reason: 'tool_calls' },
    ]);
  });

  it('keeps the start of a reply that is too long', () => {
    const long = [delta({ role: 'assistant', content: '' }), text('a'.repeat(3000)), text('b'.repeat(100)), finish()];
    const { reply, isTruncated } = record(
      long.map((chunk) => Frame.ofChunks(chunk)),
      2048,
    );
    expect(isTruncated).toBe(true);
    expect(JSON.stringify(reply)).toMatch(/a{1000}\[\d+ characters truncated\]/);
  });

  it('keeps a bounded part of a relayed stream without text', () => {
    const toCall = (index: number) => {
      const item = { type: 'function_call', id: `i${index}`, call_id: `c${index}`, name: 'f', arguments: 'a'.repeat(10_000) };
      const added = { type: 'response.output_item.added', output_index: index, item };
      const bytes = toEvents([added, { ...added, type: 'response.output_item.done' }]);
      return Frame.ofNative(bytes, {
        dialect: 'responses',
        isCompleteReply: false,
        isLast: false,
        textBytes: 0,
        usage: undefined,
      });
    };
    const { reply, isTruncated } = record(
      Array.from({ length: 100 }, (_, index) => toCall(index)),
      1024,
    );
    expect(isTruncated).toBe(true);
    expect(JSON.stringify(reply)).toContain('"c3"');
    expect(JSON.stringify(reply)).not.toContain('"c50"');
  });

  it('passes malformed frames on, and keeps the reply up to them', () => {
    const frames = [Frame.ofChunks(text('Hi.')), relayed('responses', '{', true), Frame.ofChunks(text('there'))];
    expect(record(frames)).toMatchObject({ isTruncated: true, reply: { choices: [{ message: { content: 'Hi.' } }] } });
  });

  it('has no reply if none started', () => {
    expect(record([])).toEqual({ request, reply: null, isTruncated: false });
  });
});
