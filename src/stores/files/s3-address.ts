import { Secret } from '#base/secrets/secret.ts';

/** Location of files in S3 and the credentials to access it. */
export interface S3Address {
  readonly bucket: string;
  /** Prefix of each object name. Empty, or ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  /** Endpoint of an S3-compatible service. If set, the bucket is part of the path. Undefined for Amazon S3. */
  readonly endpoint: string | undefined;
  /** Undefined means the credentials of the machine or container. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: Secret; readonly sessionToken: Secret | undefined }
    | undefined;
}

/** Environment variables that Amazon's own tools also read. */
export interface AwsEnvironment {
  readonly AWS_REGION?: string | undefined;
  readonly AWS_DEFAULT_REGION?: string | undefined;
  readonly AWS_ENDPOINT_URL_S3?: string | undefined;
  readonly AWS_ENDPOINT_URL?: string | undefined;
  readonly AWS_ACCESS_KEY_ID?: string | undefined;
  readonly AWS_SECRET_ACCESS_KEY?: string | undefined;
  readonly AWS_SESSION_TOKEN?: string | undefined;
}

const knownParameters = ['region', 'endpoint', 'accessKeyId', 'secretAccessKey', 'sessionToken'];
const bucketNamePattern = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/**
 * Parses `s3://bucket/prefix?region=…&endpoint=…`. Values in the address take precedence over the environment. Throws
 * `RangeError` with a message that does not contain the address.
 */
export function toS3Address(text: string, environment: AwsEnvironment): S3Address {
  const url = URL.parse(text);
  if (url?.protocol !== 's3:') throw new RangeError('must be s3://bucket/prefix');
  if (!bucketNamePattern.test(url.hostname)) throw new RangeError('must name a bucket: s3://bucket/prefix');
  if (url.username !== '' || url.password !== '' || url.port !== '')
    throw new RangeError('must name credentials as ?accessKeyId=…&secretAccessKey=… and another server as ?endpoint=…');
  const query = url.searchParams;
  const unknown = [...query.keys()].find((name) => !knownParameters.includes(name));
  if (unknown !== undefined)
    throw new RangeError(`has an unknown parameter ${unknown}. Known parameters: ${knownParameters.join(', ')}`);
  const endpoint = query.get('endpoint') ?? environment.AWS_ENDPOINT_URL_S3 ?? environment.AWS_ENDPOINT_URL;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new RangeError('has an endpoint that is not an http or https URL');
  // Pattern bound: the value of an environment variable, which the operator writes.
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  if (!/^[\w./-]*$/.test(prefix)) throw new RangeError('has a prefix with characters other than letters, digits, and _ . / -');
  return {
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: query.get('region') ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? 'us-east-1',
    endpoint,
    credentials: toCredentials(query, environment),
  };
}

function toCredentials(query: URLSearchParams, environment: AwsEnvironment): S3Address['credentials'] {
  const isInAddress = query.has('accessKeyId') || query.has('secretAccessKey');
  const id = isInAddress ? query.get('accessKeyId') : environment.AWS_ACCESS_KEY_ID;
  const secret = isInAddress ? query.get('secretAccessKey') : environment.AWS_SECRET_ACCESS_KEY;
  const token = isInAddress ? query.get('sessionToken') : environment.AWS_SESSION_TOKEN;
  if (!id && !secret) return undefined;
  if (!id || !secret) throw new RangeError('needs both accessKeyId and secretAccessKey');
  return { accessKeyId: id, secretAccessKey: new Secret(secret), sessionToken: token ? new Secret(token) : undefined };
}
