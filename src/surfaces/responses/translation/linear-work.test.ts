import { describe, expect, it } from 'vitest';
import { Frame } from '#contract/chat/frame.ts';
import { parseResponsesRequest } from '#contract/responses/responses-request.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { McpApprovals } from './mcp-servers.ts';
import { OfferedTools } from './offered-tools.ts';
import { toChatRequest } from './to-chat-request.ts';
import { TranslatedReplyReader } from './translated-reply-reader.ts';

/** Each of these took ten seconds or more when its work grew with the square of its size. */
const maxBlockMs = 3_000;
const getPath = () => 'input[0]';

function translate(body: object) {
  const request = parseResponsesRequest(structuredClone(body));
  const items = request.input as never;
  const approvals = new McpApprovals(items, { earlierCount: 0, getPath });
  return toChatRequest({ request, items, open: () => ({}), getPath, mayBeRelayed: false, approvals } as never);
}

describe('the translation of the Responses API', () => {
  it('allows a namespace of thousands of tools that is listed thousands of times', async () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => ({ type: 'function', name: `f${index}` }));
    const choices = Array.from({ length: 10_000 }, () => ({ type: 'namespace', name: 'a' }));
    const body = {
      ...{ model: 'm', input: 'Hi', tools: [{ type: 'namespace', name: 'a', tools }] },
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: choices },
    };
    let translated: { request?: { tools?: unknown[] } } = {};
    const blockedMs = await measureEventLoopBlock(() => {
      translated = translate(body) as never;
    });
    expect(translated.request?.tools).toHaveLength(10_000);
    expect(blockedMs).toBeLessThan(maxBlockMs);
  });

  it('rejects a namespace that no tool has', () => {
    const tools = [{ type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'f' }] }];
    const choose = (name: unknown) => ({ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'namespace', name }] });
    for (const name of ['b', undefined])
      expect(() => translate({ model: 'm', input: 'Hi', tools, tool_choice: choose(name) })).toThrow(
        'tool_choice.tools[0].name must be the name of one of the tools',
      );
  });

  it('reads a reply with thousands of signed calls', async () => {
    const options = { key: 'k', tools: new OfferedTools(), seal: JSON.stringify, isStored: false, request: { input: [] } };
    const reader = new TranslatedReplyReader({
      ...options,
      showsSealed: false,
      deployment: 'd',
      runsRemoteTools: false,
    } as never);
    const blockedMs = await measureEventLoopBlock(() => {
      for (let first = 0; first < 9_000; first += 100) {
        const calls = Array.from({ length: 100 }, (_, index) => ({
          ...{ index: first + index, id: `call_${first + index}`, type: 'function' as const },
          ...{ function: { name: 'f', arguments: '' }, extra_content: { signature: 's' } },
        }));
        const choice = { index: 0, delta: { tool_calls: calls }, finish_reason: null };
        reader.consume(Frame.ofChunks({ id: 'c', object: 'chat.completion.chunk', created: 1, choices: [choice] } as never));
      }
    });
    expect(blockedMs).toBeLessThan(maxBlockMs);
  });

  it('finds the calls of thousands of approvals', async () => {
    const ids = Array.from({ length: 12_000 }, (_, index) => `mcpr_${index}`);
    const requests = ids.map((id) => ({ type: 'mcp_approval_request', id, server_label: 's', name: 'f', arguments: '{}' }));
    const answers = ids.map((id) => ({ type: 'mcp_approval_response', approval_request_id: id, approve: true }));
    const approvals = new McpApprovals([...requests, ...answers] as never, { earlierCount: 0, getPath });
    const messages = [{ role: 'assistant', tool_calls: ids.map((id) => ({ id, extra_content: id })) }];
    let calls: readonly object[] = [];
    const blockedMs = await measureEventLoopBlock(() => {
      calls = approvals.listApprovedCalls([{ settings: { name: 's' } }] as never, messages as never);
    });
    expect([calls.length, calls.at(-1)]).toEqual([
      12_000,
      expect.objectContaining({ otherFields: { extra_content: 'mcpr_11999' } }),
    ]);
    expect(blockedMs).toBeLessThan(maxBlockMs);
  });
});
