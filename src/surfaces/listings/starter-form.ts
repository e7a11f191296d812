import type { JsonObject } from '#base/json.ts';

/** How a conversation may begin: prompts to choose from, and the JSON Schema of the choice. */
export interface StarterForm {
  readonly starters: readonly string[];
  readonly schema: JsonObject;
}

export function toStarterForm(starters: readonly string[]): StarterForm {
  const choices = [...new Set(starters)];
  const starter = { type: 'string', title: 'Starter', description: 'A prompt to begin with.', enum: choices };
  return { starters, schema: { type: 'object', properties: choices.length === 0 ? {} : { starter } } };
}
