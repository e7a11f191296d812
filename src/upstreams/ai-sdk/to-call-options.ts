import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ChatRequest } from '#contract/chat-request.ts';
import { toPlainMessages } from '#contract/content.ts';
import type { Dialect } from './dialect.ts';
import { toPrompt } from './to-prompt.ts';
import { toReasoning } from './to-reasoning.ts';
import { toOwnOptions, toSettings } from './to-settings.ts';
import { toTooling } from './to-tools.ts';

/**
 * A chat request as the packages take it; docs/upstreams.md says what becomes of each field. Throws UpstreamFault 400 for
 * what the vendor does not have.
 */
export function toCallOptions(given: ChatRequest, dialect: Dialect, model: string): LanguageModelV4CallOptions {
  const request = toPlainMessages(given);
  const tooling = toTooling(request);
  const { tools = [], toolChoice } = tooling;
  const prompt = toPrompt(request.messages, dialect, tools.length > 0 && toolChoice?.type !== 'none');
  const mustCall = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  const settings = toSettings(request);
  const thinker = { model, prompt, mustCall, maxTokens: settings.maxOutputTokens };
  const { effort, own, maxOutputTokens } = toReasoning(request, dialect, thinker);
  const options = toOwnOptions(request, dialect);
  return {
    prompt,
    ...tooling,
    ...settings,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(effort !== undefined && { reasoning: effort }),
    providerOptions: { ...options, [dialect.namespace]: { ...options[dialect.namespace], ...own } as Record<string, never> },
  };
}
