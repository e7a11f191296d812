import { describe, expect, it } from 'vitest';
import { lostFields } from './vendor-protocol.ts';

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
});
