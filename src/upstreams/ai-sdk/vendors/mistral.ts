import { isJsonObject } from '#base/json/json.ts';
import { imageTypes, isWebUrl, type Vendor } from '../vendor.ts';

export const mistral: Vendor = {
  name: 'mistral',
  namespace: 'mistral',
  fields: ['parallel_tool_calls', 'prompt_cache_key', 'safe_prompt'],
  acceptsFile: (mediaType) => imageTypes.test(mediaType) || mediaType === 'application/pdf',
  canFetch: isWebUrl,
  acceptsToolFiles: false,
  acceptsFileIds: false,
  hasCachePoints: false,
  acceptsCallsWithoutTools: true,
  reasoningFormat: 'plain',
  callIdPattern: /^[a-zA-Z0-9]{9}$/,

  async open({ key, common }) {
    const { createMistral } = await import('@ai-sdk/mistral');
    return createMistral({ ...common, ...(key?.kind === 'token' && { apiKey: key.token }) });
  },

  toOptions(request) {
    const { parallel_tool_calls: parallelToolCalls, prompt_cache_key: promptCacheKey, safe_prompt: safePrompt } = request;
    const { response_format: format } = request;
    const isStrict = isJsonObject(format) && isJsonObject(format.json_schema) && format.json_schema.strict === true;
    return {
      ...(typeof parallelToolCalls === 'boolean' && { parallelToolCalls }),
      ...(typeof promptCacheKey === 'string' && { promptCacheKey }),
      ...(typeof safePrompt === 'boolean' && { safePrompt }),
      ...(isStrict && { strictJsonSchema: true }),
    };
  },

  toReasoning: ({ effort }) => ({ ...(effort && { effort }), options: {} }),
};
