import { describe, expect, it } from 'vitest';
import { checkValue } from '#test/check-files.ts';

const account = JSON.stringify({ client_email: 'a@b', private_key: '-----BEGIN PRIVATE KEY-----', project_id: 'p' }, null, 2);

const check = (upstream: object) => checkValue({ models: { m: { upstreams: [upstream] } } });

describe('configuration check of a vendor upstream', () => {
  it.each([
    { protocol: 'gemini', key: 'k' },
    { protocol: 'mistral', key: 'k', endpoint: 'http://127.0.0.1:1/v1' },
    { protocol: 'vertex', region: 'europe-west1', key: account },
    { protocol: 'vertex', key: 'express' },
    { protocol: 'vertex', region: 'global' },
    { protocol: 'bedrock', region: 'eu-central-1', key: 'AKIA:secret' },
    { protocol: 'bedrock', key: 'AKIA:secret:token' },
    { protocol: 'bedrock' },
  ])('accepts %j', async (upstream) => {
    expect((await check(upstream)).filter((line) => line.includes('models.m'))).toEqual([]);
  });

  it.each([
    [{ protocol: 'gemini' }, /models\.m\.upstreams\[0\]\.key: is missing, but an upstream with the protocol gemini requires it/],
    [{ protocol: 'mistral' }, /key: is missing, but an upstream with the protocol mistral requires it/],
    [{ protocol: 'openai', endpoint: 'http://x/v1', key: 'a\nb' }, /key: must not contain a line break/],
    [{ protocol: 'bedrock', key: 'AKIA:' }, /key: must be a Bedrock API key, or accessKeyId:secretAccessKey/],
    [{ protocol: 'vertex', key: '{"client_email": "a@b"}' }, /key: is the JSON of a service account without private_key/],
    [{ protocol: 'vertex', key: '{oops' }, /key: is not valid JSON, although it starts like a service account/],
    [{ protocol: 'vertex', region: 'evil.example/', key: 'k' }, /region: must be a region/],
    [{ protocol: 'gemnii', key: 'k' }, /protocol/],
  ])('rejects %j without showing its secret', async (upstream, line) => {
    const lines = await check(upstream);
    expect(lines.join('\n')).toMatch(line);
    expect(lines.join('\n')).not.toMatch(/AKIA|a@b/);
  });
});
