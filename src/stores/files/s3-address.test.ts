import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toS3Address } from './s3-address.ts';

const keys = 'accessKeyId=id&secretAccessKey=canary';

describe('toS3Address', () => {
  it('reads bucket, prefix, region, endpoint, and credentials', () => {
    const address = toS3Address(
      `s3://bucket/a/b/?region=eu-1&endpoint=https%3A%2F%2Fs3.example%3A9000&${keys}&sessionToken=canary2`,
      {},
    );
    expect(address).toMatchObject({ bucket: 'bucket', prefix: 'a/b/', region: 'eu-1', endpoint: 'https://s3.example:9000' });
    expect(address.credentials?.accessKeyId).toBe('id');
    expect(address.credentials?.secretAccessKey.reveal()).toBe('canary');
    expect(address.credentials?.sessionToken?.reveal()).toBe('canary2');
    expect(inspect(address) + JSON.stringify(address)).not.toContain('canary');
  });

  it('requires only a bucket', () => {
    const address = { bucket: 'bucket', prefix: '', region: 'us-east-1', endpoint: undefined, credentials: undefined };
    expect(toS3Address('s3://bucket', {})).toEqual(address);
    expect(toS3Address('s3://bucket/', {})).toEqual(address);
  });

  it('uses the environment for missing parts only', () => {
    const environment = {
      AWS_REGION: 'from-env',
      AWS_ENDPOINT_URL: 'http://env.example',
      AWS_ACCESS_KEY_ID: 'env-id',
      AWS_SECRET_ACCESS_KEY: 'env-secret',
      AWS_SESSION_TOKEN: 'env-token',
    };
    const completed = toS3Address('s3://bucket', environment);
    expect(completed).toMatchObject({
      region: 'from-env',
      endpoint: 'http://env.example',
      credentials: { accessKeyId: 'env-id' },
    });
    const own = toS3Address(`s3://bucket?region=own&endpoint=http://own.example&${keys}`, environment);
    expect(own).toMatchObject({ region: 'own', endpoint: 'http://own.example', credentials: { accessKeyId: 'id' } });
    expect(own.credentials?.sessionToken).toBeUndefined();
  });

  it.each([
    'bucket',
    'https://bucket',
    's3://',
    's3://B_cket',
    's3://id:canary@bucket',
    's3://bucket:9000/x',
    's3://bucket?Region=x',
    's3://bucket?secretKey=canary',
    's3://bucket?accessKeyId=id',
    's3://bucket?secretAccessKey=canary',
    's3://bucket?endpoint=ftp://x',
    's3://bucket?endpoint=nonsense',
    's3://bucket/%41',
    's3://bucket/a b',
  ])('rejects %s without revealing a secret', (text) => {
    expect(() => toS3Address(text, {})).toThrow(RangeError);
    expect(() => toS3Address(text, {})).not.toThrow(/canary/);
  });
});
