import { describe, expect, it } from 'vitest';
import { lostFields } from './lost-fields.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];

describe('lostFields', () => {
  it('names what the vendor has nothing for', () => {
    const request = {
      messages,
      temperature: 1,
      user: 'u',
      logit_bias: null,
      safety_settings: [],
      parallel_tool_calls: true,
      x: 1,
    };
    expect(lostFields(request, 'gemini')).toEqual(['user', 'parallel_tool_calls', 'x']);
    expect(lostFields(request, 'mistral')).toEqual(['user', 'safety_settings', 'x']);
  });

  it('names JSON without a schema where that is lost', () => {
    expect(lostFields({ messages, response_format: { type: 'json_object' } }, 'bedrock')).toEqual(['response_format']);
    expect(lostFields({ messages, response_format: { type: 'json_object' } }, 'gemini')).toEqual([]);
    expect(lostFields({ messages, response_format: { type: 'json_schema' } }, 'bedrock')).toEqual([]);
  });
});
