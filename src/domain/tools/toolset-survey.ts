import type { JsonObject } from '#base/json/json.ts';

/** A tool that a server offers, for whoever decides whether a model may call it. */
export interface SurveyedTool {
  /** As the server names it. */
  readonly name: string;
  /** For people; '' where the server has none. */
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the arguments; undefined if there was no more room for it. */
  readonly parameters: JsonObject | undefined;
  /** Whether the server says that it changes nothing, which nothing holds it to. */
  readonly isReadOnly: boolean;
}

/** What a server offers at this moment. Credentials that it echoes are masked. */
export interface ToolsetSurvey {
  readonly tools: readonly SurveyedTool[];
  /** How many it has, of which only the first may be among `tools`. */
  readonly count: number;
  /** Names of those that are described in a form that nobody can call them by. */
  readonly leftOut: readonly string[];
}
