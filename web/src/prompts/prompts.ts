import { isJsonObject } from '#base/json/json.ts';
import { type ChatSettings, isEffort } from '../conversation/chat-settings.ts';
import { readBucket } from '../service/deployments.ts';
import { encodePath, type Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';

/** Maximum length of a name. */
export const maxNameLength = 60;

/** A text or preset that the user stores for reuse. */
export interface StoredPrompt {
  readonly name: string;
  readonly content: string;
  /** For a preset: settings in addition to the content, which contains the instructions. */
  readonly settings?: Omit<ChatSettings, 'instructions'>;
}

/** Folders in the user's bucket: prompts for messages, and presets for settings. */
export type PromptFolder = 'said' | 'presets';

const folderPath = async (service: Service, folder: PromptFolder): Promise<string> =>
  `prompts/${encodePath(await readBucket(service))}/${folder}/`;

/** Lists the names in a folder in order. Throws `ServiceError`. */
export async function listPrompts(service: Service, folder: PromptFolder): Promise<readonly string[]> {
  const answer = await service.json(`v1/metadata/${await folderPath(service, folder)}`).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  const items = isJsonObject(answer) && Array.isArray(answer.items) ? answer.items.filter(isJsonObject) : [];
  const names = items.filter(({ nodeType }) => nodeType === 'ITEM').map(({ name }) => String(name));
  return names.sort((left, right) => left.localeCompare(right));
}

/** Lists the prompts that the configuration of the service offers to the user. Throws `ServiceError`. */
export async function listSharedPrompts(service: Service): Promise<readonly StoredPrompt[]> {
  const answer = await service.json('v1/prompt-library');
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  return items.map(({ name, content }) => ({ name: String(name), content: String(content) }));
}

/** Throws `ServiceError`. */
export async function readPrompt(service: Service, folder: PromptFolder, name: string): Promise<StoredPrompt> {
  const answer = await service.json(`v1/${await folderPath(service, folder)}${encodeURIComponent(name)}`);
  const { content, settings } = isJsonObject(answer) ? answer : {};
  return {
    name,
    content: typeof content === 'string' ? content : '',
    ...(isJsonObject(settings) && { settings: toSettings(settings) }),
  };
}

/** Saves an entry and replaces one with the same name. Throws `ServiceError`. */
export async function savePrompt(service: Service, folder: PromptFolder, prompt: StoredPrompt): Promise<void> {
  const path = await folderPath(service, folder);
  const body = { id: `${path}${prompt.name}`, folderId: path.slice(0, -1), ...prompt };
  await service.send(`v1/${path}${encodeURIComponent(prompt.name)}`, { method: 'PUT', body });
}

export async function deletePrompt(service: Service, folder: PromptFolder, name: string): Promise<void> {
  await service.send(`v1/${await folderPath(service, folder)}${encodeURIComponent(name)}`, { method: 'DELETE' });
}

function isMissing(error: unknown): boolean {
  return toErrorDetails(error).status === 404;
}

function toSettings({
  temperature,
  maxTokens,
  effort,
  addons,
}: Readonly<Record<string, unknown>>): Omit<ChatSettings, 'instructions'> {
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(isEffort(effort) && { effort }),
    ...(Array.isArray(addons) && { addons: addons.filter((item) => typeof item === 'string') }),
  };
}
