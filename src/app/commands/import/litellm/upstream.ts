import type { JsonObject } from '#base/json/json.ts';
import { isApiVersion } from '#contract/api-version.ts';
import type { Path } from '#contract/configuration/issue.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportContext } from '../result.ts';

/** Protocol and defaults for one of LiteLLM's providers. */
interface Provider {
  readonly protocol: 'openai' | 'azure' | 'anthropic' | 'bedrock' | 'vertex' | 'gemini' | 'mistral';
  /** Default URL. Undefined if the URL comes from the configuration or from the protocol. */
  readonly endpoint?: string;
  /** Environment variable from which LiteLLM reads the API key. */
  readonly keyVariable?: string;
  /** Whether the configuration must contain the URL. */
  readonly needsBase?: boolean;
  /** Path to append to a configured base URL that does not end with it. */
  readonly path?: string;
}

const createOpenAiProvider = (endpoint: string, keyVariable: string): Provider => ({ protocol: 'openai', endpoint, keyVariable });
const selfHosted: Provider = { protocol: 'openai', needsBase: true };
const ollama: Provider = { protocol: 'openai', endpoint: 'http://127.0.0.1:11434/v1', path: '/v1' };

const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ['openai', createOpenAiProvider('https://api.openai.com/v1', 'OPENAI_API_KEY')],
  ['azure', { protocol: 'azure', needsBase: true, keyVariable: 'AZURE_API_KEY' }],
  [
    'anthropic',
    { protocol: 'anthropic', endpoint: 'https://api.anthropic.com/v1', keyVariable: 'ANTHROPIC_API_KEY', path: '/v1' },
  ],
  ['bedrock', { protocol: 'bedrock' }],
  ['bedrock_converse', { protocol: 'bedrock' }],
  ['vertex_ai', { protocol: 'vertex' }],
  ['gemini', { protocol: 'gemini', keyVariable: 'GEMINI_API_KEY' }],
  ['mistral', { protocol: 'mistral', keyVariable: 'MISTRAL_API_KEY' }],
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
export const providerVariables: readonly string[] = [...providers.values()].flatMap(({ keyVariable }) => keyVariable ?? []);

/** Providers that LiteLLM recognizes by the model name alone. */
const modelPatterns: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o\d|text-embedding-|ft:|codex-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
];

interface ProviderModel {
  readonly provider: Provider;
  /** Name of the model at the provider. */
  readonly model: string;
}

/** Returns the provider of a LiteLLM model, or the name of a provider that Parley cannot call. */
function findProvider(model: string, providerName: string | undefined): ProviderModel | string {
  const [prefix = '', ...tail] = model.split('/');
  const name =
    providerName ?? (tail.length > 0 ? prefix : undefined) ?? modelPatterns.find(([pattern]) => pattern.test(model))?.[1];
  const provider = name === undefined ? undefined : providers.get(name);
  if (provider === undefined) return name ?? '';
  const providerModel = tail.length > 0 && prefix === name ? tail.join('/') : model;
  return { provider, model: provider.protocol === 'bedrock' ? providerModel.replace(/^(converse|invoke)\//, '') : providerModel };
}

/** API version if the configuration has none. LiteLLM also sends a default version to Azure. */
const defaultApiVersion = '2024-10-21';

const azureV1: Provider = { protocol: 'openai', keyVariable: 'AZURE_API_KEY' };

/** Returns the upstream for `litellm_params` of one entry. Returns undefined, with a note, if Parley cannot call it. */
export function toUpstream(id: string, params: ForeignObject, context: LitellmContext): JsonObject | undefined {
  const { notes } = context;
  const name = params.text('model');
  if (name === undefined || name === '') {
    notes.addLoss(params.path, 'is left out: it has no model', params.suggestKey('model'));
    return undefined;
  }
  const match = findProvider(name, params.text('customLlmProvider'));
  if (typeof match === 'string') {
    const reason = match === '' ? 'its provider is unknown' : `Parley does not support the provider ${match}`;
    notes.addLoss(
      params.at('model'),
      `is left out: ${reason}`,
      'if it has an OpenAI-compatible URL, write an upstream with that `endpoint`',
    );
    return undefined;
  }
  const reader = new UpstreamReader(id, params, context);
  const providerModel = { ...match, provider: reader.isAzureV1(match.provider) ? azureV1 : match.provider };
  const endpoint = reader.readEndpoint(providerModel);
  if (endpoint === undefined && providerModel.provider.needsBase) {
    notes.addLoss(params.path, 'is left out: it has no api_base');
    return undefined;
  }
  return context.result.withOrigin(params.path, {
    ...(providerModel.provider.protocol !== 'openai' && { protocol: providerModel.provider.protocol }),
    ...(endpoint !== undefined && { endpoint }),
    ...reader.readVendorFields(providerModel),
    model: context.variables.convertReferences(providerModel.model),
    ...reader.readHeaders(),
    ...reader.readRoutingFields(),
  });
}

class UpstreamReader {
  readonly #id: string;
  readonly #params: ForeignObject;
  readonly #context: LitellmContext;
  readonly #credentials: ForeignObject | undefined;

  constructor(id: string, params: ForeignObject, context: LitellmContext) {
    this.#id = id;
    this.#params = params;
    this.#context = context;
    const credentialName = params.text('litellmCredentialName');
    this.#credentials = credentialName === undefined ? undefined : context.credentials.get(credentialName);
    if (credentialName !== undefined && this.#credentials === undefined)
      context.notes.addLoss(params.at('litellmCredentialName'), 'is not in credential_list, so the upstream has no key');
  }

  /** Returns whether the URL is for Azure's newer API, which is compatible with OpenAI's. */
  isAzureV1({ protocol }: Provider): boolean {
    return protocol === 'azure' && /\/openai\/v1\/?$/.test(this.#base() ?? '');
  }

  readEndpoint({ provider, model }: ProviderModel): string | undefined {
    const baseUrl = this.#base();
    if (baseUrl === undefined) return provider.endpoint;
    const { variables } = this.#context;
    const base = variables
      .convertUrl(baseUrl, this.#at('apiBase'), this.#id)
      // Pattern bound: the URL is from the operator's file. A long one slows down only this command.
      .replace(/\/+$/, '')
      .replace(/\/chat\/completions$/, '');
    if (provider.protocol === 'azure')
      return /\/openai\/deployments\//.test(base)
        ? base
        : `${base.replace(/\/openai$/, '')}/openai/deployments/${encodeURIComponent(model)}`;
    return provider.path === undefined || base.endsWith(provider.path) ? base : `${base}${provider.path}`;
  }

  /** Returns the key, region, and API version in the fields of the protocol. */
  readVendorFields({ provider }: ProviderModel): JsonObject {
    const version = this.#text('apiVersion');
    switch (provider.protocol) {
      case 'azure':
        return { ...this.#apiVersion(version), ...this.#key(provider) };
      case 'bedrock':
        return { ...this.#region('awsRegionName'), ...this.#awsKey() };
      case 'vertex':
        return { ...this.#region('vertexLocation'), ...this.#account() };
      default:
        return this.#key(provider);
    }
  }

  readHeaders(): JsonObject {
    const { variables } = this.#context;
    const headers: JsonObject = Object.create(null);
    const organization = this.#text('organization');
    if (organization !== undefined) headers['OpenAI-Organization'] = variables.convertReferences(organization);
    for (const key of ['headers', 'extraHeaders']) {
      const fields = this.#params.object(key);
      for (const name of fields?.keys() ?? []) {
        const value = fields?.text(name);
        if (fields !== undefined && value !== undefined)
          headers[name] = variables.convertHeader(value, fields.at(name), this.#id);
      }
    }
    return Object.keys(headers).length === 0 ? {} : { headers };
  }

  /** Returns the weight, the tier, and the timeout for the start of the reply. */
  readRoutingFields(): JsonObject {
    const weight = this.#params.number('weight');
    const tier = this.#params.number('order');
    const seconds = this.#params.number('timeout') ?? this.#context.timeoutSeconds;
    return {
      ...(weight !== undefined && weight !== 1 && { weight }),
      ...(tier !== undefined && { tier }),
      ...(seconds !== undefined && { timeouts: { firstByteMs: Math.max(1, Math.round(seconds * 1000)) } }),
    };
  }

  #base(): string | undefined {
    return this.#text('apiBase') ?? this.#text('baseUrl');
  }

  /** Returns a parameter, or its value from the referenced credentials. */
  #text(key: string): string | undefined {
    const text = this.#params.text(key) ?? this.#credentials?.text(key);
    return text === '' ? undefined : text;
  }

  /** Returns the path of a parameter in the file. */
  #at(key: string): Path {
    return this.#params.value(key) === undefined && this.#credentials !== undefined
      ? this.#credentials.at(key)
      : this.#params.at(key);
  }

  #apiVersion(version: string | undefined): JsonObject {
    if (version === undefined) return { apiVersion: defaultApiVersion };
    const { variables, notes } = this.#context;
    const resolvedVersion = variables.convertReferences(version);
    if (resolvedVersion === version && !isApiVersion(version)) {
      notes.addLoss(
        this.#params.at('apiVersion'),
        'is not imported: a version is a date, with or without -preview',
        'for the newest API, name …/openai/v1 as the `endpoint` of an upstream with the protocol openai',
      );
      return {};
    }
    return { apiVersion: resolvedVersion };
  }

  #key(provider: Provider): JsonObject {
    const key = this.#text('apiKey');
    if (key !== undefined) return { key: this.#secret(key, 'apiKey', 'api_key') };
    return provider.keyVariable === undefined ? {} : { key: `\${${provider.keyVariable}}` };
  }

  #region(key: string): JsonObject {
    const region = this.#text(key);
    return region === undefined ? {} : { region: this.#context.variables.convertReferences(region) };
  }

  /** Returns a Bedrock API key, or the parts of a signing key. Returns no key if the credentials come from the environment. */
  #awsKey(): JsonObject {
    const apiKey = this.#text('apiKey');
    if (apiKey !== undefined) return { key: this.#secret(apiKey, 'apiKey', 'api_key') };
    const parts = [
      ['awsAccessKeyId', 'AWS_ACCESS_KEY_ID'],
      ['awsSecretAccessKey', 'AWS_SECRET_ACCESS_KEY'],
      ['awsSessionToken', 'AWS_SESSION_TOKEN'],
    ].flatMap(([key = '', secretName = '']) => {
      const part = this.#text(key);
      return part === undefined ? [] : [this.#secret(part, key, secretName)];
    });
    return parts.length < 2 ? {} : { key: parts.join(':') };
  }

  #account(): JsonObject {
    const account = this.#params.value('vertexCredentials') ?? this.#credentials?.value('vertexCredentials');
    if (account === undefined) return {};
    const text = typeof account === 'string' ? account : JSON.stringify(account);
    const key = this.#secret(text, 'vertexCredentials', 'account');
    this.#context.notes.addNotice(
      this.#params.at('vertexCredentials'),
      `is imported as ${key}. Set this variable to the JSON of the service account, not to a file name`,
    );
    return { key };
  }

  #secret(secret: string, key: string, secretName: string): string {
    return this.#context.variables.toReference(secret, this.#at(key), `${this.#id}_${secretName}`);
  }
}

/** Shared dependencies of the model list import. */
export interface LitellmContext extends ImportContext {
  /** Values of `credential_list`, by name. */
  readonly credentials: ReadonlyMap<string, ForeignObject>;
  /** Default timeout for the start of a reply in seconds, from `request_timeout`. */
  readonly timeoutSeconds: number | undefined;
}
