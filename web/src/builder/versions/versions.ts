import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Service } from '../../service/service.ts';
import { type OwnApplication, toEntry, toOwnApplication, toPath } from '../applications.ts';

/** One of the forms that an application had; the highest number is the one in force. */
export interface Version {
  readonly version: number;
  readonly savedAtMs: number;
}

/** The newest first. */
export async function listVersions(service: Service, id: string): Promise<readonly Version[]> {
  const answer = await service.json(`v1/versions/${toPath(id)}`);
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  return items.map(({ version, savedAt }) => ({ version: Number(version), savedAtMs: Number(savedAt) }));
}

export async function readVersion(service: Service, id: string, version: number): Promise<JsonObject> {
  const answer = await service.json(`v1/versions/${toPath(id)}?version=${version}`);
  const { version: _version, ...rest } = isJsonObject(answer) ? answer : {};
  return toEntry(rest);
}

/** Saves a version again, in the place of what was read before and of nothing else (412). */
export async function restoreVersion(service: Service, { id, etag }: OwnApplication, version: number): Promise<OwnApplication> {
  const headers = { 'if-match': `"${etag}"` };
  const answer = await service.json(`v1/versions/${toPath(id)}?version=${version}`, { method: 'POST', headers });
  return toOwnApplication(isJsonObject(answer) ? answer : {});
}
