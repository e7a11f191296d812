import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Service } from '../../service/service.ts';
import { type OwnApplication, toEntry, toOwnApplication, toPath } from '../applications.ts';

/** A version of an application. The highest number is the current one. */
export interface Version {
  readonly version: number;
  readonly savedAtMs: number;
}

/** Lists the versions, the newest first. */
export async function listVersions(service: Service, id: string): Promise<readonly Version[]> {
  const answer = await service.json(`v1/versions/${toPath(id)}`);
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  return items.map(({ version, savedAt }) => ({ version: Number(version), savedAtMs: Number(savedAt) }));
}

export async function readVersion(service: Service, id: string, version: number): Promise<JsonObject> {
  const answer = await service.json(`v1/versions/${toPath(id)}?version=${version}`);
  const { version: _version, ...fields } = isJsonObject(answer) ? answer : {};
  return toEntry(fields);
}

/** Restores a version. Replaces only the version that was read, otherwise fails with 412. */
export async function restoreVersion(service: Service, { id, etag }: OwnApplication, version: number): Promise<OwnApplication> {
  const headers = { 'if-match': `"${etag}"` };
  const answer = await service.json(`v1/versions/${toPath(id)}?version=${version}`, { method: 'POST', headers });
  return toOwnApplication(isJsonObject(answer) ? answer : {});
}
