import { expect, it } from 'vitest';
import { defaultProtocol, getTraits, modelProtocols, type ProtocolName, protocols } from './protocols.ts';

/** Returns the protocols that match a predicate. */
const filterProtocols = (holds: (name: ProtocolName) => boolean) => (Object.keys(protocols) as ProtocolName[]).filter(holds);

it('protocols has an entry for each kind of upstream and for applications', () => {
  expect(modelProtocols).toEqual(['openai', 'azure', 'anthropic', 'bedrock', 'vertex', 'gemini', 'mistral', 'dial', 'demo']);
  expect(filterProtocols(() => true)).toEqual([...modelProtocols, 'application']);
  expect(defaultProtocol).toBe('openai');
});

it('protocols lists the requirements of upstreams', () => {
  expect(filterProtocols((name) => protocols[name].needsEndpoint)).toEqual(['openai', 'azure', 'anthropic', 'application']);
  expect(filterProtocols((name) => protocols[name].needsKey)).toEqual(['gemini', 'mistral']);
  expect(filterProtocols((name) => protocols[name].needsApiVersion)).toEqual(['azure']);
});

it('protocols shows which upstreams use the Messages dialect', () => {
  const speaking = (model: string, address?: string) => {
    const endpoint = address === undefined ? undefined : new URL(address);
    return filterProtocols((name) => protocols[name].speaksMessages({ model, endpoint }));
  };
  expect(speaking('gpt')).toEqual(['anthropic']);
  expect(speaking('Claude-x')).toEqual(['anthropic', 'vertex']);
  expect(speaking('gpt', 'https://host/v1/publishers/anthropic/models')).toEqual(['anthropic', 'vertex']);
  expect(speaking('gpt', 'https://host/v1/publishers/google')).toEqual(['anthropic']);
});

it('getTraits returns no requirements for an unknown protocol', () => {
  for (const wrong of ['telegraph', 'toString', '__proto__', 3, undefined, null]) {
    expect(getTraits(wrong)).toMatchObject({ needsEndpoint: false, needsKey: false, structuredKeyKind: undefined });
  }
});

it('protocols accepts reasoning_content except for vendors that reject it', () => {
  const takes = (name: 'openai' | 'azure', host: string) =>
    protocols[name].acceptsReasoning({ model: 'm', endpoint: new URL(`https://${host}/v1`) });
  expect([takes('openai', 'api.deepseek.com'), takes('azure', 'x.services.ai.azure.com')]).toEqual([true, true]);
  expect([takes('openai', 'api.openai.com'), takes('openai', 'eu.api.openai.com')]).toEqual([false, false]);
  expect([takes('openai', 'api.groq.com'), takes('azure', 'x.openai.azure.com')]).toEqual([false, false]);
  expect(takes('openai', 'notopenai.com')).toBe(true);
});
