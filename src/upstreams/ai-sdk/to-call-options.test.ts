import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toCallOptions } from './to-call-options.ts';
import { type VendorName, vendors } from './vendors.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const models: Readonly<Record<VendorName, string>> = {
  gemini: 'gemini-2.5-pro',
  vertex: 'gemini-2.5-pro',
  bedrock: 'anthropic.claude-sonnet-4-5',
  mistral: 'mistral-large',
};
const tool = { type: 'function', function: { name: 'f', description: 'F', parameters: { properties: {} }, strict: true } };

function optionsOf(vendor: VendorName, request: Partial<ChatRequest>, model = models[vendor]) {
  const { prompt: _prompt, providerOptions, ...options } = toCallOptions({ messages, ...request }, vendors[vendor], model);
  return { ...options, own: providerOptions?.[vendors[vendor].namespace], anthropic: providerOptions?.anthropic };
}

describe('toCallOptions', () => {
  it('says nothing that the request does not', () => {
    expect(optionsOf('gemini', { user: 'u', n: 2, logit_bias: { 1: 2 } })).toEqual({ own: {}, anthropic: undefined });
  });

  it('carries sampling and bounds; max_completion_tokens wins', () => {
    const request = {
      ...{ temperature: 0.5, top_p: 0.9, top_k: 40, seed: 7, stop: 'x', presence_penalty: 1, frequency_penalty: -1 },
      ...{ max_tokens: 5, max_completion_tokens: 6 },
    };
    expect(optionsOf('gemini', request)).toMatchObject({
      ...{ temperature: 0.5, topP: 0.9, topK: 40, seed: 7, stopSequences: ['x'], presencePenalty: 1, frequencyPenalty: -1 },
      maxOutputTokens: 6,
    });
    expect(optionsOf('gemini', { max_tokens: 5, stop: null })).toMatchObject({ maxOutputTokens: 5 });
  });

  it('carries the form of the answer', () => {
    const schema = { type: 'object' };
    expect(optionsOf('gemini', { response_format: { type: 'json_object' } }).responseFormat).toEqual({ type: 'json' });
    expect(optionsOf('gemini', { response_format: { type: 'text' } }).responseFormat).toBeUndefined();
    const strict = { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema, strict: true } };
    expect(optionsOf('mistral', { response_format: strict })).toMatchObject({
      responseFormat: { type: 'json', name: 'n', description: 'd', schema },
      own: { strictJsonSchema: true },
    });
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', toolName: 'f' },
    ],
    [undefined, undefined],
  ])('carries tools with the choice %j', (tool_choice, toolChoice) => {
    expect(optionsOf('gemini', { tools: [tool], ...(tool_choice !== undefined && { tool_choice }) })).toMatchObject({
      tools: [{ type: 'function', name: 'f', description: 'F', inputSchema: { type: 'object', properties: {} }, strict: true }],
      ...(toolChoice && { toolChoice }),
    });
  });

  it('offers the allowed tools only', () => {
    const other = { type: 'function', function: { name: 'g' } };
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [other] } };
    const { tools, toolChoice } = optionsOf('gemini', { tools: [tool, other], tool_choice });
    expect([tools?.map(({ name }) => name), toolChoice]).toEqual([['g'], { type: 'required' }]);
  });

  it('leaves out a tool that another vendor runs', () => {
    expect(optionsOf('gemini', { tools: [tool, { type: 'web_search' }] }).tools).toEqual(
      optionsOf('gemini', { tools: [tool] }).tools,
    );
  });

  it('refuses a tool that only another vendor can describe', () => {
    expect(() => optionsOf('gemini', { tools: [tool, { type: 'custom', custom: { name: 'c' } }] })).toThrow(
      expect.objectContaining({ status: 400, param: 'tools[1]' }),
    );
  });

  it('carries what only one vendor knows, and nothing to the others', () => {
    const request = {
      ...{ safety_settings: [{ category: 'c', threshold: 't' }], cached_content: 'cachedContents/1', service_tier: 'default' },
      ...{ parallel_tool_calls: false, prompt_cache_key: 'k', safe_prompt: true, betas: ['b-1', 2] },
    };
    const google = { safetySettings: request.safety_settings, cachedContent: request.cached_content };
    expect(optionsOf('gemini', request).own).toEqual({ ...google, serviceTier: 'standard' });
    expect(optionsOf('vertex', request).own).toEqual(google);
    expect(optionsOf('bedrock', request)).toMatchObject({
      own: { serviceTier: 'default', anthropicBeta: ['b-1'] },
      anthropic: { disableParallelToolUse: true },
    });
    expect(optionsOf('mistral', request).own).toEqual({ parallelToolCalls: false, promptCacheKey: 'k', safePrompt: true });
  });

  it('takes attachments for files', () => {
    const attachments = [{ type: 'image/png', data: 'iVBORw0KGgo=' }];
    const { prompt } = toCallOptions(
      { messages: [{ role: 'user', content: 'See', custom_content: { attachments } }] },
      vendors.bedrock,
      'm',
    );
    expect(prompt).toMatchObject([
      {
        content: [
          { type: 'text', text: 'See' },
          { type: 'file', mediaType: 'image/png' },
        ],
      },
    ]);
  });
});

describe('how much a model shall think', () => {
  const thoughts = { thinkingConfig: { includeThoughts: true } };

  it.each(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])('is told as the effort %s', (reasoning_effort) => {
    expect(optionsOf('gemini', { reasoning_effort })).toMatchObject({ reasoning: reasoning_effort, own: thoughts });
    expect(optionsOf('bedrock', { reasoning_effort })).toMatchObject({ reasoning: reasoning_effort, own: {} });
    expect(optionsOf('mistral', { reasoning_effort })).toMatchObject({ reasoning: reasoning_effort, own: {} });
  });

  it('can be nothing', () => {
    expect(optionsOf('gemini', { reasoning_effort: 'none' })).toMatchObject({ reasoning: 'none', own: {} });
    expect(optionsOf('bedrock', { thinking: { type: 'disabled' }, reasoning_effort: 'high' }).reasoning).toBe('none');
  });

  it('is left to the model for what is no effort', () => {
    expect(optionsOf('gemini', { reasoning_effort: 'much' })).toEqual({ own: {}, anthropic: undefined });
  });

  it('of a Claude of Bedrock leaves the bound what was asked for, thoughts included', () => {
    const bounded = (request: Partial<ChatRequest>, model?: string): unknown => {
      const { reasoning, own, maxOutputTokens } = optionsOf('bedrock', { max_tokens: 10_000, ...request }, model);
      const { reasoningConfig } = own as { reasoningConfig?: { budgetTokens?: number } };
      return [reasoning, reasoningConfig?.budgetTokens, maxOutputTokens];
    };
    expect(bounded({ thinking: { type: 'enabled', budget_tokens: 4000 } })).toEqual([undefined, 4000, 6000]);
    expect(bounded({ reasoning_effort: 'high' })).toEqual([undefined, 8000, 2000]);
    expect(bounded({ reasoning_effort: 'low' })).toEqual([undefined, 2048, 7952]);
    expect(bounded({ reasoning_effort: 'low', max_tokens: 1000 })).toEqual([undefined, undefined, 1000]);
    expect(bounded({ reasoning_effort: 'high' }, 'anthropic.claude-opus-4-6-v1')).toEqual(['high', undefined, 10_000]);
    expect(bounded({ reasoning_effort: 'high' }, 'amazon.nova-2-lite-v1:0')).toEqual(['high', undefined, 10_000]);
  });

  it('can be a budget, which wins', () => {
    const request = { thinking: { type: 'enabled', budget_tokens: 2048 }, reasoning_effort: 'low' };
    expect(optionsOf('gemini', request)).toEqual({
      own: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } },
      anthropic: undefined,
    });
    expect(optionsOf('bedrock', request).own).toEqual({ reasoningConfig: { type: 'enabled', budgetTokens: 2048 } });
    expect(optionsOf('bedrock', { thinking: { type: 'adaptive' } }).own).toEqual({ reasoningConfig: { type: 'adaptive' } });
  });

  it('is not asked of the thoughts of a model that has none', () => {
    expect(optionsOf('gemini', { reasoning_effort: 'low' }, 'gemini-2.0-flash').own).toEqual({});
  });

  it('is not asked of a Claude that must call, or goes on from calls without thoughts', () => {
    const asked = {
      role: 'assistant' as const,
      content: null,
      tool_calls: [{ id: '1', function: { name: 'f', arguments: '{}' } }],
    };
    const signed = { ...asked, thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] };
    const told = { role: 'tool' as const, tool_call_id: '1', content: 'x' };
    const reasoning = (request: Partial<ChatRequest>, model?: string): unknown =>
      optionsOf('bedrock', { tools: [tool], reasoning_effort: 'low', ...request }, model).reasoning;
    expect(reasoning({ tool_choice: 'required' })).toBeUndefined();
    expect(reasoning({ messages: [...messages, asked, told] })).toBeUndefined();
    expect(reasoning({ messages: [...messages, signed, told] })).toBe('low');
    expect(reasoning({ messages: [...messages, asked, told, ...messages] })).toBe('low');
    expect(reasoning({ messages: [...messages, asked, told] }, 'amazon.nova-2-lite-v1:0')).toBe('low');
  });
});
