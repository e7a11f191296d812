/** Properties of an API whose requests and responses are passed through. */
export interface PassThroughTraits {
  /** Request format: JSON, a form with files, or both. */
  readonly accepts: 'json' | 'form' | 'either';
  /** Fields whose text is used to estimate prompt tokens if the upstream does not report them. */
  readonly prompt: readonly string[];
  /** Required field of a JSON response. */
  readonly answer: string;
  /** Media types of responses that are neither JSON nor events. If undefined, such responses are not valid. */
  readonly raw?: RegExp;
  /** Event `type` that must end a streamed response. If undefined, `[DONE]` ends it. */
  readonly lastEvent?: string;
}

const text = /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-)?(?:subrip|srt)|text\/x-subrip)\b/i;
const sound = /^(?:audio\/|application\/octet-stream\b|application\/ogg\b)/i;

const traits = {
  completions: { accepts: 'json', prompt: ['prompt', 'suffix'], answer: 'choices' },
  moderations: { accepts: 'json', prompt: ['input'], answer: 'results' },
  'images/generations': {
    accepts: 'json',
    prompt: ['prompt'],
    answer: 'data',
    lastEvent: 'image_generation.completed',
  },
  'images/edits': {
    accepts: 'either',
    prompt: ['prompt'],
    answer: 'data',
    lastEvent: 'image_edit.completed',
  },
  'audio/speech': {
    accepts: 'json',
    prompt: ['input', 'instructions'],
    answer: 'audio',
    raw: sound,
    lastEvent: 'speech.audio.done',
  },
  'audio/transcriptions': {
    accepts: 'form',
    prompt: ['prompt'],
    answer: 'text',
    raw: text,
    lastEvent: 'transcript.text.done',
  },
  'audio/translations': { accepts: 'form', prompt: ['prompt'], answer: 'text', raw: text },
  rerank: { accepts: 'json', prompt: ['query', 'documents'], answer: 'results' },
} as const satisfies Record<string, PassThroughTraits>;

/** An API in the style of OpenAI, except chat completions, responses, and embeddings. The name is its path below `/v1`. */
export type PassThroughApi = keyof typeof traits;

/** Properties of each API (docs/wire.md, Further APIs). */
export const passThrough: Readonly<Record<PassThroughApi, PassThroughTraits>> = traits;

export const passThroughApis = Object.keys(traits) as PassThroughApi[];

export function isPassThroughApi(name: string): name is PassThroughApi {
  return Object.hasOwn(traits, name);
}
