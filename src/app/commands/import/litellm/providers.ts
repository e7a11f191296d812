/** How Parley calls one of LiteLLM's providers. */
export interface Provider {
  readonly protocol: 'openai' | 'azure' | 'anthropic' | 'bedrock' | 'vertex' | 'gemini' | 'mistral';
  /** Default URL. Undefined if the URL comes from the configuration or from the protocol. */
  readonly endpoint?: string;
  /** Environment variable from which LiteLLM reads the key. */
  readonly key?: string;
  /** Whether the configuration must contain the URL. */
  readonly needsBase?: boolean;
  /** Path to append to a configured base URL that does not end with it. */
  readonly path?: string;
}

const createOpenAiProvider = (endpoint: string, key: string): Provider => ({ protocol: 'openai', endpoint, key });
const selfHosted: Provider = { protocol: 'openai', needsBase: true };
const ollama: Provider = { protocol: 'openai', endpoint: 'http://127.0.0.1:11434/v1', path: '/v1' };

const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ['openai', createOpenAiProvider('https://api.openai.com/v1', 'OPENAI_API_KEY')],
  ['azure', { protocol: 'azure', needsBase: true, key: 'AZURE_API_KEY' }],
  ['anthropic', { protocol: 'anthropic', endpoint: 'https://api.anthropic.com/v1', key: 'ANTHROPIC_API_KEY', path: '/v1' }],
  ['bedrock', { protocol: 'bedrock' }],
  ['bedrock_converse', { protocol: 'bedrock' }],
  ['vertex_ai', { protocol: 'vertex' }],
  ['gemini', { protocol: 'gemini', key: 'GEMINI_API_KEY' }],
  ['mistral', { protocol: 'mistral', key: 'MISTRAL_API_KEY' }],
  ['ollama', ollama],
  ['ollama_chat', ollama],
  ['groq', createOpenAiProvider('https://api.groq.com/openai/v1', 'GROQ_API_KEY')],
  ['openrouter', createOpenAiProvider('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY')],
  ['deepseek', createOpenAiProvider('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY')],
  ['together_ai', createOpenAiProvider('https://api.together.xyz/v1', 'TOGETHERAI_API_KEY')],
  ['fireworks_ai', createOpenAiProvider('https://api.fireworks.ai/inference/v1', 'FIREWORKS_AI_API_KEY')],
  ['xai', createOpenAiProvider('https://api.x.ai/v1', 'XAI_API_KEY')],
  ['perplexity', createOpenAiProvider('https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY')],
  ['cerebras', createOpenAiProvider('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY')],
  ['nvidia_nim', createOpenAiProvider('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY')],
  ['deepinfra', createOpenAiProvider('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY')],
  ['hosted_vllm', selfHosted],
  ['openai_like', selfHosted],
  ['lm_studio', selfHosted],
  ['llamafile', selfHosted],
  ['litellm_proxy', selfHosted],
  ['xinference', selfHosted],
]);

/** Environment variables from which LiteLLM reads keys by default. */
export const providerVariables: readonly string[] = [...providers.values()].flatMap(({ key }) =>
  key === undefined ? [] : [key],
);

/** Providers that LiteLLM recognizes by the model name alone. */
const bareNames: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o\d|text-embedding-|ft:|codex-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
];

export interface ProviderModel {
  readonly provider: Provider;
  /** Name of the model at the provider. */
  readonly model: string;
}

/** Returns the provider of a LiteLLM model, or the name of a provider that Parley cannot call. */
export function findProvider(model: string, providerName: string | undefined): ProviderModel | string {
  const [prefix = '', ...tail] = model.split('/');
  const name = providerName ?? (tail.length > 0 ? prefix : undefined) ?? bareNames.find(([pattern]) => pattern.test(model))?.[1];
  const provider = name === undefined ? undefined : providers.get(name);
  if (provider === undefined) return name ?? '';
  const providerModel = tail.length > 0 && prefix === name ? tail.join('/') : model;
  return { provider, model: provider.protocol === 'bedrock' ? providerModel.replace(/^(converse|invoke)\//, '') : providerModel };
}
