import { toBucket } from '#domain/files/bucket.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, type TestService, withKey } from '#test/start-service.ts';

export const schemaId = 'https://any.example/custom_application_schemas/quickapps';

/** Returns the bucket of a key with this project. */
export function getProjectBucket(project: string): string {
  return toBucket(`key:${project}`);
}

/** Bucket of the user of `callerKey`. */
export const ownBucket = getProjectBucket('test');

/** Returns an application that runs without code. */
export function quickApp(properties: object = {}, fields: object = {}): Record<string, unknown> {
  return {
    applicationTypeSchemaId: schemaId,
    applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'demo', ...properties },
    ...fields,
  };
}

type Service = Pick<TestService, 'sendRequest'>;
type Headers = Readonly<Record<string, string>>;

export function getApplicationPath(name: string, bucket = ownBucket): string {
  return `/v1/applications/${bucket}/${name}`;
}

export function save(service: Service, path: string, body: unknown, headers: Headers = {}): Promise<TestResponse> {
  return service.sendRequest({ method: 'PUT', path, headers: { ...withKey(), ...headers }, body });
}

export function show(service: Service, path: string, key = callerKey, headers: Headers = {}): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path, headers: { 'api-key': key, ...headers } });
}

export function remove(service: Service, path: string, headers: Headers = {}): Promise<TestResponse> {
  return service.sendRequest({ method: 'DELETE', path, headers: { 'api-key': callerKey, ...headers } });
}
