import { type Static, type TProperties, Type } from 'typebox';
import { orNull } from '../schemas/type-builders.ts';
import { OutputItem, OutputText, RefusalPart, SummaryText, UrlCitation } from './output-items.ts';
import { ResponseObject } from './response.ts';

const text = Type.String();
const index = Type.Integer({ minimum: 0 });

/** Returns the schema of an event. Every event has a type and a sequence number, which starts at 0 and has no gaps. */
function event<Name extends string, Fields extends TProperties>(type: Name, fields: Fields) {
  return Type.Object({ type: Type.Literal(type), sequence_number: index, ...fields });
}

const response = { response: ResponseObject };
const item = { output_index: index, item: OutputItem };
const inItem = { item_id: text, output_index: index };
const inContent = { ...inItem, content_index: index };
const inSummary = { ...inItem, summary_index: index };
const contentPart = { ...inContent, part: Type.Union([OutputText, RefusalPart]) };
const summaryPart = { ...inSummary, part: SummaryText };
const logprobs = Type.Array(Type.Unsafe<{ [key: string]: unknown }>({ type: 'object' }));
const textOrNull = orNull(text);

/** An error in a stream, in the form of the dialect. `error` repeats it with the four fields of every error. */
const ErrorEvent = event('error', {
  code: textOrNull,
  message: text,
  param: textOrNull,
  error: Type.Object({ type: text, message: text, param: textOrNull, code: textOrNull, display_message: Type.Optional(text) }),
});

/** All events that Parley creates. Upstreams of the Responses dialect can send other types. */
export const ResponseEvent = Type.Union([
  event('response.queued', response),
  event('response.created', response),
  event('response.in_progress', response),
  event('response.completed', response),
  event('response.incomplete', response),
  event('response.failed', response),
  event('response.output_item.added', item),
  event('response.output_item.done', item),
  event('response.content_part.added', contentPart),
  event('response.content_part.done', contentPart),
  event('response.output_text.delta', { ...inContent, delta: text, logprobs }),
  event('response.output_text.done', { ...inContent, text, logprobs }),
  event('response.output_text.annotation.added', { ...inContent, annotation_index: index, annotation: UrlCitation }),
  event('response.refusal.delta', { ...inContent, delta: text }),
  event('response.refusal.done', { ...inContent, refusal: text }),
  event('response.reasoning_summary_part.added', summaryPart),
  event('response.reasoning_summary_part.done', summaryPart),
  event('response.reasoning_summary_text.delta', { ...inSummary, delta: text }),
  event('response.reasoning_summary_text.done', { ...inSummary, text }),
  event('response.function_call_arguments.delta', { ...inItem, delta: text }),
  event('response.function_call_arguments.done', { ...inItem, arguments: text }),
  event('response.custom_tool_call_input.delta', { ...inItem, delta: text }),
  event('response.custom_tool_call_input.done', { ...inItem, input: text }),
  event('response.mcp_list_tools.in_progress', inItem),
  event('response.mcp_list_tools.completed', inItem),
  event('response.mcp_list_tools.failed', inItem),
  event('response.mcp_call.in_progress', inItem),
  event('response.mcp_call_arguments.delta', { ...inItem, delta: text }),
  event('response.mcp_call_arguments.done', { ...inItem, arguments: text }),
  event('response.mcp_call.completed', inItem),
  event('response.mcp_call.failed', inItem),
  ErrorEvent,
]);
export type ResponseEvent = Static<typeof ResponseEvent>;

/** An event without its sequence number. */
export type UnnumberedEvent = ResponseEvent extends infer Each
  ? Each extends object
    ? Omit<Each, 'sequence_number'>
    : never
  : never;
