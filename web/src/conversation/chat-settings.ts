import type { Message } from '#contract/chat/message.ts';

/** Values of `reasoning_effort` that all vendors support. */
export const efforts = ['low', 'medium', 'high'] as const;
export type Effort = (typeof efforts)[number];

export function isEffort(value: unknown): value is Effort {
  return efforts.some((effort) => effort === value);
}

/** Settings of one chat. An undefined setting is decided by the deployment. */
export interface ChatSettings {
  readonly instructions?: string;
  readonly temperature?: number;
  /** Maximum length of an answer in tokens. */
  readonly maxTokens?: number;
  /** Sent only to deployments that can reason, because deployments without reasoning reject it. */
  readonly effort?: Effort;
  /** IDs of the tools of the service for the model. */
  readonly addons?: readonly string[];
}

/** Request fields of the settings, except the instructions. */
export interface SettingFields {
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly reasoning_effort?: Effort;
  readonly addons?: readonly { readonly name: string }[];
}

/** Prepends the instructions to the messages as one system message. Omits empty instructions. */
export function withInstructions(messages: readonly Message[], instructions: readonly string[]): readonly Message[] {
  const content = instructions.filter((text) => text.trim() !== '').join('\n\n');
  return content === '' ? messages : [{ role: 'system', content }, ...messages];
}

export function toSettingFields(
  { temperature, maxTokens, effort, addons = [] }: ChatSettings,
  { canReason }: { readonly canReason: boolean },
): SettingFields {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(canReason && effort !== undefined && { reasoning_effort: effort }),
    ...(addons.length > 0 && { addons: addons.map((name) => ({ name })) }),
  };
}

export function hasSettings({ instructions = '', temperature, maxTokens, effort, addons = [] }: ChatSettings): boolean {
  const hasValue = [temperature, maxTokens, effort].some((value) => value !== undefined);
  return instructions.trim() !== '' || hasValue || addons.length > 0;
}
