import type { Message } from '#contract/chat/message.ts';

/** How long a deployment that thinks does so before it answers: what all vendors know of `reasoning_effort`. */
export const efforts = ['low', 'medium', 'high'] as const;
export type Effort = (typeof efforts)[number];

export function isEffort(value: unknown): value is Effort {
  return efforts.some((effort) => effort === value);
}

/** What the user set for one conversation; each absent where the deployment decides. */
export interface ChatSettings {
  readonly instructions?: string;
  readonly temperature?: number;
  /** Of an answer. */
  readonly maxTokens?: number;
  /** Sent to deployments that think alone: others refuse it. */
  readonly effort?: Effort;
  /** Ids of the tools of the service that a model has. */
  readonly addons?: readonly string[];
}

/** What of a request follows from the settings beside its messages. */
export interface SettingFields {
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly reasoning_effort?: Effort;
  readonly addons?: readonly { readonly name: string }[];
}

/** The messages with the instructions before them. */
export function withInstructions(messages: readonly Message[], { instructions = '' }: ChatSettings): readonly Message[] {
  return instructions.trim() === '' ? messages : [{ role: 'system', content: instructions }, ...messages];
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

/** Whether anything is set. */
export function hasSettings({ instructions = '', temperature, maxTokens, effort, addons = [] }: ChatSettings): boolean {
  const hasValue = [temperature, maxTokens, effort].some((value) => value !== undefined);
  return instructions.trim() !== '' || hasValue || addons.length > 0;
}
