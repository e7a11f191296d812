// The streaming events of the specification by type.

const inItem = { item_id: 'string', output_index: 'integer' };
const inContent = { ...inItem, content_index: 'integer' };
const inSummary = { ...inItem, summary_index: 'integer' };
const padding = { 'obfuscation?': 'string' };
const likelihoods = { 'logprobs?': 'LogProb[]' };
const item = { output_index: 'integer', item: 'ItemField | null' };

const snapshots = ['created', 'queued', 'in_progress', 'completed', 'failed', 'incomplete'].map(
  (status) => [`response.${status}`, { response: 'ResponseResource' }] as const,
);

const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...Object.fromEntries(snapshots),
  'response.output_item.added': item,
  'response.output_item.done': item,
  'response.content_part.added': { ...inContent, part: 'ContentPart' },
  'response.content_part.done': { ...inContent, part: 'ContentPart' },
  'response.output_text.delta': { ...inContent, delta: 'string', ...likelihoods, ...padding },
  'response.output_text.done': { ...inContent, text: 'string', ...likelihoods },
  'response.output_text.annotation.added': { ...inContent, annotation_index: 'integer', annotation: 'Annotation | null' },
  'response.refusal.delta': { ...inContent, delta: 'string' },
  'response.refusal.done': { ...inContent, refusal: 'string' },
  'response.reasoning.delta': { ...inContent, delta: 'string', ...padding },
  'response.reasoning.done': { ...inContent, text: 'string' },
  'response.reasoning_summary_part.added': { ...inSummary, part: 'ContentPart' },
  'response.reasoning_summary_part.done': { ...inSummary, part: 'ContentPart' },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: 'string', ...padding },
  'response.reasoning_summary_text.done': { ...inSummary, text: 'string' },
  'response.function_call_arguments.delta': { ...inItem, delta: 'string', ...padding },
  'response.function_call_arguments.done': { ...inItem, arguments: 'string' },
  error: { error: 'ErrorPayload' },
};

/** One schema per event type, and `StreamingEvent` as the union of all events. */
export const events = {
  ...Object.fromEntries(
    Object.entries(fields).map(([type, ownFields]) => [type, { type: `"${type}"`, sequence_number: 'integer', ...ownFields }]),
  ),
  StreamingEvent: Object.keys(fields).join(' | '),
};
