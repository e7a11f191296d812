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

function getOptions(vendor: VendorName, request: Partial<ChatRequest>, model = models[vendor]) {
  const { prompt: _prompt, providerOptions, ...options } = toCallOptions({ messages, ...request }, vendors[vendor], model);
  return { ...options, vendorOptions: providerOptions?.[vendors[vendor].namespace], anthropic: providerOptions?.anthropic };
}

describe('toCallOptions', () => {
  it('adds no options that the request does not set', () => {
    expect(getOptions('gemini', { user: 'u', n: 2, logit_bias: { 1: 2 } })).toEqual({ vendorOptions: {}, anthropic: undefined });
  });

  it('converts sampling settings and bounds, and prefers max_completion_tokens', () => {
    const request = {
      ...{ temperature: 0.5, top_p: 0.9, top_k: 40, seed: 7, stop: 'x', presence_penalty: 1, frequency_penalty: -1 },
      ...{ max_tokens: 5, max_completion_tokens: 6 },
    };
    expect(getOptions('gemini', request)).toMatchObject({
      ...{ temperature: 0.5, topP: 0.9, topK: 40, seed: 7, stopSequences: ['x'], presencePenalty: 1, frequencyPenalty: -1 },
      maxOutputTokens: 6,
    });
    expect(getOptions('gemini', { max_tokens: 5, stop: null })).toMatchObject({ maxOutputTokens: 5 });
  });

  it('converts the response format', () => {
    const schema = { type: 'object' };
    expect(getOptions('gemini', { response_format: { type: 'json_object' } }).responseFormat).toEqual({ type: 'json' });
    expect(getOptions('gemini', { response_format: { type: 'text' } }).responseFormat).toBeUndefined();
    const strict = { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema, strict: true } };
    expect(getOptions('mistral', { response_format: strict })).toMatchObject({
      responseFormat: { type: 'json', name: 'n', description: 'd', schema },
      vendorOptions: { strictJsonSchema: true },
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
  ])('converts tools with the choice %j', (tool_choice, toolChoice) => {
    expect(getOptions('gemini', { tools: [tool], ...(tool_choice !== undefined && { tool_choice }) })).toMatchObject({
      tools: [{ type: 'function', name: 'f', description: 'F', inputSchema: { type: 'object', properties: {} }, strict: true }],
      ...(toolChoice && { toolChoice }),
    });
  });

  it('offers only the allowed tools', () => {
    const allowedTool = { type: 'function', function: { name: 'g' } };
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [allowedTool] } };
    const { tools, toolChoice } = getOptions('gemini', { tools: [tool, allowedTool], tool_choice });
    expect([tools?.map(({ name }) => name), toolChoice]).toEqual([['g'], { type: 'required' }]);
  });

  it('omits a tool that another vendor runs', () => {
    expect(getOptions('gemini', { tools: [tool, { type: 'web_search' }] }).tools).toEqual(
      getOptions('gemini', { tools: [tool] }).tools,
    );
  });

  it('rejects a custom tool', () => {
    expect(() => getOptions('gemini', { tools: [tool, { type: 'custom', custom: { name: 'c' } }] })).toThrow(
      expect.objectContaining({ status: 400, param: 'tools[1]' }),
    );
  });

  it('sends vendor-specific fields only to their vendor', () => {
    const request = {
      ...{ safety_settings: [{ category: 'c', threshold: 't' }], cached_content: 'cachedContents/1', service_tier: 'default' },
      ...{ parallel_tool_calls: false, prompt_cache_key: 'k', safe_prompt: true, betas: ['b-1', 2] },
    };
    const google = { safetySettings: request.safety_settings, cachedContent: request.cached_content };
    expect(getOptions('gemini', request).vendorOptions).toEqual({ ...google, serviceTier: 'standard' });
    expect(getOptions('vertex', request).vendorOptions).toEqual(google);
    expect(getOptions('bedrock', request)).toMatchObject({
      vendorOptions: { serviceTier: 'default', anthropicBeta: ['b-1'] },
      anthropic: { disableParallelToolUse: true },
    });
    expect(getOptions('mistral', request).vendorOptions).toEqual({
      parallelToolCalls: false,
      promptCacheKey: 'k',
      safePrompt: true,
    });
  });

  it('converts attachments to files', () => {
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

describe('toCallOptions for reasoning', () => {
  const thoughts = { thinkingConfig: { includeThoughts: true } };

  it.each(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])('converts the effort %s', (reasoning_effort) => {
    expect(getOptions('gemini', { reasoning_effort })).toMatchObject({ reasoning: reasoning_effort, vendorOptions: thoughts });
    expect(getOptions('bedrock', { reasoning_effort })).toMatchObject({ reasoning: reasoning_effort, vendorOptions: {} });
    expect(getOptions('mistral', { reasoning_effort })).toMatchObject({ reasoning: reasoning_effort, vendorOptions: {} });
  });

  it('disables reasoning', () => {
    expect(getOptions('gemini', { reasoning_effort: 'none' })).toMatchObject({ reasoning: 'none', vendorOptions: {} });
    expect(getOptions('bedrock', { thinking: { type: 'disabled' }, reasoning_effort: 'high' }).reasoning).toBe('none');
  });

  it('ignores an unknown effort', () => {
    expect(getOptions('gemini', { reasoning_effort: 'much' })).toEqual({ vendorOptions: {}, anthropic: undefined });
  });

  it('keeps the answer and the reasoning of Claude on Bedrock within the requested bound', () => {
    const bounded = (request: Partial<ChatRequest>, model?: string): unknown => {
      const { reasoning, vendorOptions, maxOutputTokens } = getOptions('bedrock', { max_tokens: 10_000, ...request }, model);
      const { reasoningConfig } = vendorOptions as { reasoningConfig?: { budgetTokens?: number } };
      return [reasoning, reasoningConfig?.budgetTokens, maxOutputTokens];
    };
    expect(bounded({ thinking: { type: 'enabled', budget_tokens: 4000 } })).toEqual([undefined, 4000, 6000]);
    expect(bounded({ reasoning_effort: 'high' })).toEqual([undefined, 8000, 2000]);
    expect(bounded({ reasoning_effort: 'low' })).toEqual([undefined, 2048, 7952]);
    expect(bounded({ reasoning_effort: 'low', max_tokens: 1000 })).toEqual([undefined, undefined, 1000]);
    expect(bounded({ reasoning_effort: 'high' }, 'anthropic.claude-opus-4-6-v1')).toEqual(['high', undefined, 10_000]);
    expect(bounded({ reasoning_effort: 'high' }, 'amazon.nova-2-lite-v1:0')).toEqual(['high', undefined, 10_000]);
  });

  it('prefers a budget to an effort', () => {
    const request = { thinking: { type: 'enabled', budget_tokens: 2048 }, reasoning_effort: 'low' };
    expect(getOptions('gemini', request)).toEqual({
      vendorOptions: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } },
      anthropic: undefined,
    });
    expect(getOptions('bedrock', request).vendorOptions).toEqual({ reasoningConfig: { type: 'enabled', budgetTokens: 2048 } });
    expect(getOptions('bedrock', { thinking: { type: 'adaptive' } }).vendorOptions).toEqual({
      reasoningConfig: { type: 'adaptive' },
    });
  });

  it('adds no reasoning options for a model without reasoning', () => {
    expect(getOptions('gemini', { reasoning_effort: 'low' }, 'gemini-2.0-flash').vendorOptions).toEqual({});
  });

  it('adds no reasoning options if Claude must call a tool, or if the calls of the current turn have no reasoning', () => {
    const call = {
      role: 'assistant' as const,
      content: null,
      tool_calls: [{ id: '1', function: { name: 'f', arguments: '{}' } }],
    };
    const signedCall = { ...call, thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] };
    const result = { role: 'tool' as const, tool_call_id: '1', content: 'x' };
    const reasoning = (request: Partial<ChatRequest>, model?: string): unknown =>
      getOptions('bedrock', { tools: [tool], reasoning_effort: 'low', ...request }, model).reasoning;
    expect(reasoning({ tool_choice: 'required' })).toBeUndefined();
    expect(reasoning({ messages: [...messages, call, result] })).toBeUndefined();
    expect(reasoning({ messages: [...messages, signedCall, result] })).toBe('low');
    expect(reasoning({ messages: [...messages, call, result, ...messages] })).toBe('low');
    expect(reasoning({ messages: [...messages, call, result] }, 'amazon.nova-2-lite-v1:0')).toBe('low');
  });
});
