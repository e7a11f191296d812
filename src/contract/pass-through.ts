/** What is known of an API whose requests and answers are passed through. */
export interface PassThroughTraits {
  /** How its requests come: JSON, or a form with files; `either` takes both. */
  readonly accepts: 'json' | 'form' | 'either';
  /** Fields whose text counts as the prompt if the upstream reports no tokens. */
  readonly prompt: readonly string[];
  /** The field that an answer in JSON must have. */
  readonly answer: string;
  /** Media types of answers that are neither JSON nor events; absent: there are none. */
  readonly raw?: RegExp;
  /** The `type` of the event that a streamed answer does not end without; absent: `[DONE]` is its end. */
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

/** An API of OpenAI's family besides chat completions, responses and embeddings; the name is its path below `/v1`. */
export type PassThroughApi = keyof typeof traits;

/** Each of them (docs/wire.md, Further APIs). */
export const passThrough: Readonly<Record<PassThroughApi, PassThroughTraits>> = traits;

export const passThroughApis = Object.keys(traits) as PassThroughApi[];

/** Whether an API is one of them. */
export function isPassThroughApi(name: string): name is PassThroughApi {
  return Object.hasOwn(traits, name);
}
