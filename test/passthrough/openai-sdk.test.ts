import { LLMock } from '@copilotkit/aimock';
import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MockedService, startBefore } from '#test/mocked-service.ts';
import { callerKey } from '#test/start-service.ts';

const spoken = Buffer.from('sound of a voice');
const picture = Buffer.from('a picture').toString('base64');
let mocked: MockedService;

beforeAll(async () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4 });
  mock.onImage(/.*/, { image: { b64Json: picture } });
  mock.onSpeech(/.*/, { audio: spoken.toString('base64'), format: 'mp3' });
  mock.onTranscription({ transcription: { text: 'What was said.' } });
  mock.onTranslation({ transcription: { text: 'What was meant.' } });
  mock.onRerank(/.*/, [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ]);
  await mock.start();
  const at = (api: string | readonly string[], endpoint = `${mock.url}/v1`) => ({
    upstreams: [{ endpoint, key: 'upstream-key', model: 'own-name', api }],
    maxRetryAttempts: 1,
  });
  mocked = await startBefore(mock, {
    models: {
      painter: at(['images/generations', 'images/edits']),
      speaker: at('audio/speech'),
      listener: at(['audio/transcriptions', 'audio/translations']),
      judge: at('moderations'),
      sorter: at('rerank', `${mock.url}/v2`),
    },
  });
});

afterAll(() => mocked[Symbol.asyncDispose]());

const createOpenAI = () => new OpenAI({ apiKey: callerKey, baseURL: `${mocked.service.url}/v1`, maxRetries: 0 });
const clients = [
  ['OpenAI', createOpenAI],
  ['OpenAI at the alias', () => new OpenAI({ apiKey: callerKey, baseURL: `${mocked.service.url}/openai/v1`, maxRetries: 0 })],
  [
    'AzureOpenAI',
    () => new AzureOpenAI({ apiKey: callerKey, endpoint: mocked.service.url, apiVersion: '2024-10-21', maxRetries: 0 }),
  ],
] as const;
const sound = () => toFile(Buffer.alloc(70_000, 7), 'speech “1”.wav', { type: 'audio/wav' });

describe.each(clients)('%s', (_name, client) => {
  it('generates images', async () => {
    const response = await client().images.generate({ model: 'painter', prompt: 'a cat', response_format: 'b64_json' });
    expect(response.data?.[0]?.b64_json).toBe(picture);
  });

  it('edits an image', async () => {
    const image = await toFile(Buffer.alloc(20_000, 1), 'cat.png', { type: 'image/png' });
    const response = await client().images.edit({ image, model: 'painter', prompt: 'a cat with a hat' });
    expect(response.data?.[0]?.b64_json).toBe(picture);
  });

  it('generates speech', async () => {
    const answer = await client().audio.speech.create({ model: 'speaker', input: 'Hello.', voice: 'alloy' });
    expect(answer.headers.get('content-type')).toContain('audio/mpeg');
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(spoken);
  });

  it('transcribes a recording with the file before the model', async () => {
    const transcription = await client().audio.transcriptions.create({ file: await sound(), model: 'listener' });
    expect(transcription.text).toBe('What was said.');
  });

  it('translates a recording with the model before the file', async () => {
    const transcription = await client().audio.translations.create({ model: 'listener', file: await sound() });
    expect(transcription.text).toBe('What was meant.');
  });
});

it('an OpenAI client can moderate texts', async () => {
  const { results } = await createOpenAI().moderations.create({ model: 'judge', input: ['one', 'two'] });
  expect(results[0]).toMatchObject({ flagged: false });
});

it('an OpenAI client can rerank documents', async () => {
  const body = { model: 'sorter', query: 'cats', documents: ['dogs', 'cats'], top_n: 2 };
  const answer = await createOpenAI().post<{ results: unknown[] }>('/rerank', { body });
  expect(answer.results).toMatchObject([
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ]);
});

it('a model without chat names its endpoint in the error for a chat request', async () => {
  const completion = createOpenAI().chat.completions.create({ model: 'speaker', messages: [{ role: 'user', content: 'hi' }] });
  await expect(completion).rejects.toMatchObject({
    status: 400,
    code: 'operation_not_supported',
    message: expect.stringContaining('speaker does not support this operation: use /v1/audio/speech.'),
  });
});

it('the model listing contains the supported APIs', async () => {
  const { json } = await mocked.service.sendRequest({
    method: 'GET',
    path: '/openai/models/listener',
    headers: { 'api-key': callerKey },
  });
  expect(json).toMatchObject({
    capabilities: {
      completion: false,
      chat_completion: false,
      embeddings: false,
      apis: ['audio/transcriptions', 'audio/translations'],
    },
  });
});
