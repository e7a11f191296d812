// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService } from '#test/start-service.ts';
import { checkImported, fixture, loadImported, runImport } from './support.ts';

const proxy = await fixture('litellm-proxy.yaml');
const importText = (text: string) => runImport({ from: 'litellm', files: { 'config.yaml': text } });

interface Models {
  readonly models: Readonly<Record<string, { readonly upstreams: readonly Record<string, unknown>[] }>>;
}

async function importUpstreams(model: string, text = proxy) {
  const { value } = await importText(text);
  return (value as unknown as Models).models[model]?.upstreams;
}

describe('parley import litellm', () => {
  it('converts all supported settings to a configuration that passes the check', async () => {
    const { exitCode, value, text } = await importText(proxy);
    expect(exitCode).toBe(0);
    expect((await checkImported(text)).exitCode).toBe(0);
    expect(Object.keys(value.models ?? {})).toEqual([
      ...['general', 'general-mini', 'thinker', 'on-aws', 'on-google', 'at-home', 'own-server', 'by-credential', 'vectors'],
      'usual',
    ]);
    expect(value.models).toMatchObject({
      'general-mini': {
        defaults: { temperature: 0.1, max_tokens: 200 },
        limits: { maxPromptTokens: 100000 },
        pricing: { prompt: 4e-7, completion: 1.6e-6 },
        maxRetryAttempts: 3,
      },
      vectors: { type: 'embedding' },
    });
    expect(value.identityProviders).toEqual({
      litellm: {
        issuer: 'https://library.okta.example/oauth2/default',
        jwksUrl: 'https://library.okta.example/oauth2/default/v1/keys',
        audience: 'library',
        userIdClaim: 'sub',
        rolesClaim: 'groups',
      },
    });
  });

  it('assigns the protocol of each vendor', async () => {
    const { value } = await importText(proxy);
    const { models } = value as unknown as Models;
    const timeouts = { firstByteMs: 600000 };
    expect(models['on-aws']?.upstreams).toEqual([
      {
        protocol: 'bedrock',
        region: 'eu-central-1',
        key: '${AWS_ACCESS_KEY_ID}:${ON_AWS_AWS_SECRET_ACCESS_KEY}',
        model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
        timeouts,
      },
    ]);
    expect(models['on-google']?.upstreams).toMatchObject([
      { protocol: 'vertex', region: 'europe-west1', model: 'gemini-2.5-pro' },
    ]);
    expect(models['at-home']?.upstreams).toEqual([{ endpoint: 'http://gpu.example:11434/v1', model: 'llama3.2', timeouts }]);
    expect(models.vectors?.upstreams).toMatchObject([{ protocol: 'mistral', key: '${MISTRAL_API_KEY}' }]);
    expect(models['by-credential']?.upstreams).toMatchObject([
      { protocol: 'azure', endpoint: '${AZURE_SHARED_BASE}/openai/deployments/shared', apiVersion: '2024-10-21' },
    ]);
    expect(models['general-mini']?.upstreams).toMatchObject([
      { endpoint: 'https://api.openai.com/v1', key: '${OPENAI_API_KEY}' },
    ]);
  });

  it('parses YAML like Python: merge keys, yes, 1_000, and dates as text', async () => {
    expect((await importUpstreams('general'))?.[0]).toMatchObject({
      protocol: 'azure',
      endpoint: 'https://north.openai.azure.com/openai/deployments/general-north',
      key: '${AZURE_NORTH_KEY}',
      timeouts: { firstByteMs: 30000 },
    });
    const undated = proxy.replace('api_version: "2024-10-21"', 'api_version: 2024-10-21');
    expect((await importUpstreams('general', undated))?.[0]).toMatchObject({ apiVersion: '2024-10-21' });
  });

  it('converts a custom server and keeps the master key valid', async () => {
    await using upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
    const { text } = await importText(await fixture('litellm-proxy.yaml', { SELF: upstream.url }));
    await using service = await startService(await loadImported(text));
    const chat = (key: string) =>
      service.sendRequest({
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: { model: 'own-server', messages: hello },
      });
    expect((await chat('sk-master-literal-0006-long-enough')).status).toBe(200);
    expect((await chat('master')).status).toBe(401);
    expect(await upstream.request(0)).toMatchObject({ path: '/v1/chat/completions', body: { model: 'library-7b' } });
  });
});

describe('fallbacks of LiteLLM', () => {
  it('become tiers after the configured upstreams, with a warning', async () => {
    const upstreams = (await importUpstreams('general')) ?? [];
    expect(upstreams.map(({ protocol, tier }) => [protocol, tier])).toEqual([
      ['azure', undefined],
      [undefined, undefined],
      ['anthropic', 1],
      ['bedrock', 2],
    ]);
    expect((await importUpstreams('thinker'))?.map(({ tier }) => tier)).toEqual([undefined]);
    const { lines } = await importText(proxy);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^config\.yaml:67: litellm_settings\.fallbacks\[0\]\.general: became tiers of general: /),
        'config.yaml:68: litellm_settings.fallbacks[1].elsewhere: is not imported: elsewhere is not in the result',
        expect.stringMatching(/^config\.yaml:69: litellm_settings\.context_window_fallbacks: is not imported/),
      ]),
    );
  });

  it('answer if the configured upstreams fail', async () => {
    await using broken = await startScriptedUpstream(jsonReply({ error: { message: 'down' } }, 503));
    await using other = await startScriptedUpstream(jsonReply(plainCompletion('from the other')));
    const entry = (name: string, url: string) =>
      `  - {model_name: ${name}, litellm_params: {model: openai/${name}, api_base: ${url}/v1, api_key: os.environ/SOME_KEY}}\n`;
    const { text, lines } = await importText(
      `model_list:\n${entry('first', broken.url)}${entry('second', other.url)}router_settings:\n  fallbacks: [{first: [second]}]\ngeneral_settings: {master_key: sk-a-master-key-of-some-length}\n`,
    );
    expect(lines).toEqual([expect.stringMatching(/^config\.yaml:5: router_settings\.fallbacks\[0\]\.first: became tiers/)]);
    await using service = await startService(await loadImported(text));
    const headers = { 'Api-Key': 'sk-a-master-key-of-some-length', 'content-type': 'application/json' };
    const { status, text: answer } = await service.chat('first', { messages: hello }, headers);
    expect([status, answer]).toEqual([200, expect.stringContaining('from the other')]);
    expect(broken.requests.length).toBeGreaterThan(0);
    expect((await other.request(0)).body.model).toBe('second');
  });
});

describe('model_info of LiteLLM', () => {
  const info = (text: string) => `model_list:
  - model_name: m
    litellm_params: {model: openai/m, api_key: os.environ/SOME_KEY, drop_params: true}
    model_info: {${text}}
general_settings: {master_key: sk-a-master-key-of-some-length}
`;

  it('becomes features and attachment types', async () => {
    const { value } = await importText(
      info('supports_function_calling: true, supports_reasoning: true, supports_system_messages: false, supports_vision: true'),
    );
    expect((value as unknown as Models).models.m).toMatchObject({
      features: { toolsSupported: true, reasoningSupported: true, systemPromptSupported: false },
      inputAttachmentTypes: ['image/*'],
    });
  });

  it('is reported by line if it is not imported', async () => {
    const { lines } = await importText(info('base_model: gpt-4o, supports_pdf_input: true'));
    expect(lines.map((line) => line.split(' ')[1])).toEqual([
      'model_list[0].litellm_params.drop_params:',
      'model_list[0].model_info.base_model:',
      'model_list[0].model_info.supports_pdf_input:',
    ]);
  });
});

describe('unsupported setting of LiteLLM', () => {
  it('is reported with file, line, path, and advice', async () => {
    const { lines } = await importText(proxy);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^config\.yaml:14: model_list\[0\]\.litellm_params\.rpm: is not imported: upstreams have no rate limits in Parley\. Limit clients with `roles`/,
        ),
        expect.stringMatching(/^config\.yaml:20: model_list\[1\]\.litellm_params\.tpm: is not imported/),
        expect.stringMatching(/^config\.yaml:49: model_list\[10\]: is left out: /),
        expect.stringMatching(
          /^config\.yaml:52: model_list\[11\]\.litellm_params\.model: is left out: Parley does not support the provider sagemaker\. /,
        ),
        expect.stringMatching(
          /^config\.yaml:53: model_list\[12\]\.model_name: is left out: in Parley, a name identifies one model\. /,
        ),
        expect.stringMatching(/^config\.yaml:88: guardrails: is not imported: Parley has no guardrails, so calls skip them$/),
      ]),
    );
    expect(lines.filter((line) => !/^config\.yaml:\d+: \S+: /.test(line))).toEqual([]);
  });

  it('names the setting of Parley for the maximum number of parallel requests', async () => {
    const { lines } = await importText(
      'model_list:\n  - model_name: a\n    litellm_params: {model: gpt-4o, max_parallel_requests: 5}\n',
    );
    expect(lines).toContain(
      'config.yaml:3: model_list[0].litellm_params.max_parallel_requests: is not imported: set `maxParallel` of the upstream',
    );
  });

  it('does not affect other entries if one entry is misspelled', async () => {
    const { lines, value } = await importText(
      'model_list:\n  - model_name: a\n    litellm_params: {model: gpt-4o, api_ky: k}\n  - model_nam: b\n    litellm_params: {model: gpt-4o}\n  - 7\n',
    );
    expect(Object.keys(value.models ?? {})).toEqual(['a']);
    expect(lines).toEqual(
      expect.arrayContaining([
        'config.yaml:3: model_list[0].litellm_params.api_ky: is not imported: it is not a known key of litellm_params. Did you mean api_key?',
        'config.yaml:4: model_list[1]: is left out: it has no model_name or no litellm_params. Did you mean model_name by model_nam?',
        'config.yaml:6: model_list[2]: is left out: it must be an object',
        expect.stringMatching(/general_settings\.master_key: is missing: LiteLLM then accepts all requests/),
      ]),
    );
  });
});

it('parley import litellm never assigns one variable to two secrets or reuses a variable name of the file', async () => {
  const { value, text } = await importText(
    [
      'model_list:',
      '  - {model_name: a, litellm_params: {model: openai/x, api_key: literal-one-1111}}',
      '  - {model_name: A, litellm_params: {model: openai/x, api_key: literal-two-2222}}',
      '  - {model_name: b, litellm_params: {model: openai/x, api_key: os.environ/A_API_KEY}}',
      '  - {model_name: c, litellm_params: {model: openai/x, api_key: literal-one-1111}}',
    ].join('\n'),
  );
  const { models } = value as unknown as Models;
  expect(Object.values(models).map(({ upstreams }) => upstreams[0]?.key)).toEqual([
    '${A_API_KEY_2}',
    '${A_API_KEY_3}',
    '${A_API_KEY}',
    '${A_API_KEY_2}',
  ]);
  expect(text).not.toContain('literal-');
});

it('parley import litellm converts the v1 API of Azure to the openai protocol', async () => {
  const upstreams = await importUpstreams(
    'a',
    'model_list:\n  - {model_name: a, litellm_params: {model: azure/gpt-5, api_base: "https://x.openai.azure.com/openai/v1/"}}\n',
  );
  expect(upstreams).toEqual([{ endpoint: 'https://x.openai.azure.com/openai/v1', key: '${AZURE_API_KEY}', model: 'gpt-5' }]);
});
