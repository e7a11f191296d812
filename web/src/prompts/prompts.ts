import { filterObjects, isJsonObject, toObject, toText } from '#base/json/json.ts';
import { type ChatSettings, isEffort } from '../conversation/chat-settings.ts';
import type { Service } from '../service/service.ts';
import { type DocumentFolder, readDocument, saveDocument } from '../service/user-documents.ts';

/** Maximum length of a name, in characters. */
export const maxNameLength = 60;

/** A text or preset that the user stores for reuse. */
export interface StoredPrompt {
  readonly name: string;
  readonly content: string;
  /** Settings of a preset. Its content is the instructions. */
  readonly settings?: Omit<ChatSettings, 'instructions'>;
}

/** Folder of the prompts for messages, or of the presets for settings. */
type PromptFolder = Extract<DocumentFolder, 'said' | 'presets'>;

/** Lists the prompts that the configuration of the service offers to the user. Throws `ServiceError`. */
export async function listSharedPrompts(service: Service): Promise<readonly StoredPrompt[]> {
  const answer = await service.json('v1/prompt-library');
  const items = filterObjects(toObject(answer).data);
  return items.map(({ name, content }) => ({ name: String(name), content: String(content) }));
}

/** Reads an entry. Its content is '' if it does not exist. Throws `ServiceError`. */
export async function readPrompt(service: Service, folder: PromptFolder, name: string): Promise<StoredPrompt> {
  const { content, settings } = (await readDocument(service, folder, name)) ?? {};
  return { name, content: toText(content), ...(isJsonObject(settings) && { settings: toSettings(settings) }) };
}

/** Saves an entry and replaces one with the same name. Throws `ServiceError`. */
export function savePrompt(service: Service, folder: PromptFolder, prompt: StoredPrompt): Promise<void> {
  return saveDocument(service, folder, { ...prompt });
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
