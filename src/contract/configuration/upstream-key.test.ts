import { describe, expect, it } from 'vitest';
import { listKeySecrets, readUpstreamKey, type UpstreamKey } from './upstream-key.ts';

const account = { client_email: 'a@b', private_key: '-----BEGIN PRIVATE KEY-----\nx\n', project_id: 'p' };
const read = {
  kind: 'account',
  clientEmail: 'a@b',
  privateKey: account.private_key,
  projectId: 'p',
  tokenUri: 'https://oauth2.googleapis.com/token',
};

describe('readUpstreamKey', () => {
  it('accepts a token for any protocol', () => {
    for (const protocol of ['openai', 'gemini', 'bedrock', 'vertex', undefined])
      expect(readUpstreamKey(protocol, 'abc')).toEqual({ kind: 'token', token: 'abc' });
    expect(readUpstreamKey('openai', 'a:b')).toEqual({ kind: 'token', token: 'a:b' });
    expect(readUpstreamKey('gemini', 'a\nb')).toHaveProperty('error');
  });

  it('parses a key with colons as AWS credentials', () => {
    const [accessKeyId, secretAccessKey, sessionToken] = ['AKIA', 's/+=', 'tok=='];
    expect(readUpstreamKey('bedrock', 'AKIA:s/+=')).toEqual({
      kind: 'signing',
      accessKeyId,
      secretAccessKey,
      sessionToken: undefined,
    });
    expect(readUpstreamKey('bedrock', 'AKIA:s/+=:tok==')).toEqual({
      kind: 'signing',
      accessKeyId,
      secretAccessKey,
      sessionToken,
    });
    for (const wrong of ['AKIA:', ':s', 'a:b:', 'a:b:c:d', 'a: b', 'a:b\n'])
      expect(readUpstreamKey('bedrock', wrong)).toHaveProperty('error', expect.stringMatching(/accessKeyId:secretAccessKey/));
  });

  it('parses a key that starts with a brace as a service account, regardless of its layout', () => {
    expect(readUpstreamKey('vertex', JSON.stringify(account))).toEqual(read);
    expect(readUpstreamKey('vertex', `\n${JSON.stringify(account, null, 2)}\n`)).toEqual(read);
    expect(readUpstreamKey('vertex', JSON.stringify({ ...account, token_uri: 'https://t.example/x' }))).toEqual({
      ...read,
      tokenUri: 'https://t.example/x',
    });
  });

  it.each([
    ['{"oops"', /is not valid JSON/],
    [JSON.stringify({ ...account, private_key: undefined }), /without private_key/],
    [JSON.stringify({ ...account, project_id: '' }), /without project_id/],
    [JSON.stringify({ ...account, client_email: 7 }), /without client_email/],
    [JSON.stringify({ ...account, private_key: 'x' }), /not PEM/],
  ])('reports the error of %s without quoting the key', (key, error) => {
    const found = readUpstreamKey('vertex', key);
    expect(found).toHaveProperty('error', expect.stringMatching(error));
    expect(JSON.stringify(found)).not.toMatch(/BEGIN|a@b/);
  });
});

describe('listKeySecrets', () => {
  it('returns the secret parts of each key', () => {
    const secrets = (protocol: string, key: string) => listKeySecrets(readUpstreamKey(protocol, key) as UpstreamKey);
    expect(secrets('gemini', 'abc')).toEqual(['abc']);
    expect(secrets('bedrock', 'a:b')).toEqual(['b']);
    expect(secrets('bedrock', 'a:b:c')).toEqual(['b', 'c']);
    expect(secrets('vertex', JSON.stringify(account))).toEqual([account.private_key]);
  });
});
