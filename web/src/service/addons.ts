import { isJsonObject } from '#base/json/json.ts';
import type { Service } from './service.ts';

/** A tool of the service that a model can use for a question. */
export interface Addon {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** Throws `ServiceError`. */
export async function listAddons(service: Service): Promise<readonly Addon[]> {
  const answer = await service.json('openai/addons');
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  return items.map(({ id, display_name: name, description }) => ({
    id: String(id),
    name: typeof name === 'string' ? name : String(id),
    description: typeof description === 'string' ? description : '',
  }));
}
