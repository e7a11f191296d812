import type { Message } from '#contract/message.ts';

/** What the user set for one conversation; each absent where the deployment decides. */
export interface ChatSettings {
  readonly instructions?: string;
  readonly temperature?: number;
  /** Of an answer. */
  readonly maxTokens?: number;
  /** Ids of the tools of the service that a model has. */
  readonly addons?: readonly string[];
}

/** What of a request follows from the settings beside its messages. */
export interface SettingFields {
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly addons?: readonly { readonly name: string }[];
}

/** The messages with the instructions before them. */
export function withInstructions(messages: readonly Message[], { instructions = '' }: ChatSettings): readonly Message[] {
  return instructions.trim() === '' ? messages : [{ role: 'system', content: instructions }, ...messages];
}

export function toSettingFields({ temperature, maxTokens, addons = [] }: ChatSettings): SettingFields {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(addons.length > 0 && { addons: addons.map((name) => ({ name })) }),
  };
}

/** Whether anything is set. */
export function isSet({ instructions = '', temperature, maxTokens, addons = [] }: ChatSettings): boolean {
  return instructions.trim() !== '' || temperature !== undefined || maxTokens !== undefined || addons.length > 0;
}
