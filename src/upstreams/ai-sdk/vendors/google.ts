import type { GoogleVertexProviderSettings } from '@ai-sdk/google-vertex';
import type { JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { isWebUrl, type Vendor } from '../vendor.ts';

type AuthOptions = NonNullable<GoogleVertexProviderSettings['googleAuthOptions']>;

/** These models do not reason and reject a request for reasoning. */
const modelsWithoutReasoning = /gemini-(1|2\.0)|gemma|learnlm/i;

const google = {
  acceptsFile: () => true,
  canFetch: (url) => isWebUrl(url) || url.protocol === 'gs:',
  acceptsToolFiles: true,
  hasCachePoints: false,
  acceptsCallsWithoutTools: true,
  reasoningFormat: 'signature',
  callIdPattern: /^.+$/s,
  toReasoning({ effort, budget }, { model }) {
    const thinkingConfig = { includeThoughts: true, ...(budget !== undefined && { thinkingBudget: budget }) };
    return { ...(effort && { effort }), options: modelsWithoutReasoning.test(model) ? {} : { thinkingConfig } };
  },
} satisfies Partial<Vendor>;

export const gemini: Vendor = {
  ...google,
  name: 'gemini',
  namespace: 'google',
  fields: ['thinking', 'safety_settings', 'cached_content', 'service_tier'],
  acceptsFileIds: true,

  async open({ key, common }) {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ ...common, ...(key?.kind === 'token' && { apiKey: key.token }) });
  },

  toOptions(request) {
    const tier = request.service_tier === 'default' ? 'standard' : request.service_tier;
    const isKnown = tier === 'standard' || tier === 'flex' || tier === 'priority';
    return { ...toSafetyOptions(request), ...(isKnown && { serviceTier: tier }) };
  },
};

export const vertex: Vendor = {
  ...google,
  name: 'vertex',
  namespace: 'googleVertex',
  fields: ['thinking', 'safety_settings', 'cached_content'],
  acceptsFileIds: false,

  async open({ key, region, common, token }) {
    const { createGoogleVertex } = await import('@ai-sdk/google-vertex');
    const settings = { ...common, ...(region !== undefined && { location: region }) };
    if (key?.kind === 'token') return createGoogleVertex({ ...settings, apiKey: key.token });
    if (key?.kind !== 'account') return createGoogleVertex(settings);
    // The package uses only this method of the client of google-auth-library.
    const authClient = { getAccessToken: async () => ({ token: await token?.getCurrent() }) };
    const googleAuthOptions = { authClient } as unknown as AuthOptions;
    return createGoogleVertex({ ...settings, apiKey: '', project: key.projectId, googleAuthOptions });
  },

  toOptions: toSafetyOptions,
};

function toSafetyOptions({ safety_settings: safetySettings, cached_content: cachedContent }: ChatRequest): JsonObject {
  return {
    ...(Array.isArray(safetySettings) && { safetySettings }),
    ...(typeof cachedContent === 'string' && { cachedContent }),
  };
}
