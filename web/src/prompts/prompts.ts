import { isJsonObject } from '#base/json/json.ts';
import { type ChatSettings, isEffort } from '../conversation/chat-settings.ts';
import { readBucket } from '../service/deployments.ts';
import { encodePath, type Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';

/** Characters of the name of what is kept. */
export const maxNameLength = 60;

/** Something the user keeps to say or to set again. */
export interface StoredPrompt {
  readonly name: string;
  readonly content: string;
  /** Of a preset: what it sets beside its content, the instructions. */
  readonly settings?: Omit<ChatSettings, 'instructions'>;
}

/** Where prompts lie in the user's bucket: those of the one folder are said, those of the other are set. */
export type PromptFolder = 'said' | 'presets';

const folderPath = async (service: Service, folder: PromptFolder): Promise<string> =>
  `prompts/${encodePath(await readBucket(service))}/${folder}/`;

/** The names of what is kept in a folder, in their order. Throws ServiceFault. */
export async function listPrompts(service: Service, folder: PromptFolder): Promise<readonly string[]> {
  const answer = await service.json(`v1/metadata/${await folderPath(service, folder)}`).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  const items = isJsonObject(answer) && Array.isArray(answer.items) ? answer.items.filter(isJsonObject) : [];
  const names = items.filter(({ nodeType }) => nodeType === 'ITEM').map(({ name }) => String(name));
  return names.sort((left, right) => left.localeCompare(right));
}

/** Throws ServiceFault. */
export async function readPrompt(service: Service, folder: PromptFolder, name: string): Promise<StoredPrompt> {
  const answer = await service.json(`v1/${await folderPath(service, folder)}${encodeURIComponent(name)}`);
  const { content, settings } = isJsonObject(answer) ? answer : {};
  return {
    name,
    content: typeof content === 'string' ? content : '',
    ...(isJsonObject(settings) && { settings: toSettings(settings) }),
  };
}

/** Puts it in the place of one of the same name. Throws ServiceFault. */
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
