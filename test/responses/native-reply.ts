import { jsonReply, piecesReply, type Reply } from '#test/scripted-upstream.ts';

/** Returns a reply of an upstream with the Responses API that has features that Parley itself never creates. */
export function createNativeReply(): Reply {
  const logprobs = [{ token: 'So.', logprob: -0.5, bytes: [83], top_logprobs: [{ token: 'So.', logprob: -0.5, bytes: [83] }] }];
  const part = { type: 'output_text', text: 'So.', annotations: [], logprobs };
  const common = { status: 'completed', role: 'assistant', phase: 'final_answer' };
  const message = { type: 'message', id: 'msg_up', ...common, content: [part] };
  const callItem = { type: 'function_call', id: 'fc_up', call_id: 'call_1', name: 'find', arguments: '{}', status: 'completed' };
  const summary = [{ type: 'summary_text', text: 'Hm.' }];
  const content = [{ type: 'reasoning_text', text: 'Hm.' }];
  const reasoning = { type: 'reasoning', id: 'rs_up', summary, content, encrypted_content: 'sealed' };
  const output = [reasoning, message, callItem];
  const counted = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  const usage = { ...counted, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 1 } };
  const head = { id: 'resp_up', object: 'response', created_at: 1, model: 'up', status: 'in_progress', output: [], error: null };
  const completeResponse = { ...head, status: 'completed', output, usage };
  const locate = (output_index: number) => ({ item_id: output[output_index]?.id, output_index });
  const pad = { obfuscation: 'xx' };
  const inReasoning = { ...locate(0), content_index: 0 };
  const inSummary = { ...locate(0), summary_index: 0 };
  const inMessage = { ...locate(1), content_index: 0 };
  const events = [
    { type: 'response.created', response: head },
    { type: 'response.in_progress', response: head },
    { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [], content: [] } },
    { type: 'response.reasoning_summary_part.added', ...inSummary, part: { type: 'summary_text', text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...inSummary, delta: 'Hm.', ...pad },
    { type: 'response.reasoning_summary_text.done', ...inSummary, text: 'Hm.' },
    { type: 'response.reasoning_summary_part.done', ...inSummary, part: summary[0] },
    { type: 'response.content_part.added', ...inReasoning, part: { type: 'reasoning_text', text: '' } },
    { type: 'response.reasoning.delta', ...inReasoning, delta: 'Hm.', ...pad },
    { type: 'response.reasoning.done', ...inReasoning, text: 'Hm.' },
    { type: 'response.content_part.done', ...inReasoning, part: content[0] },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    { type: 'response.output_item.added', output_index: 1, item: { ...message, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...inMessage, part: { ...part, text: '', logprobs: [] } },
    { type: 'response.output_text.delta', ...inMessage, delta: 'So.', logprobs, ...pad },
    { type: 'response.output_text.done', ...inMessage, text: 'So.', logprobs },
    { type: 'response.content_part.done', ...inMessage, part },
    { type: 'response.output_item.done', output_index: 1, item: message },
    { type: 'response.output_item.added', output_index: 2, item: { ...callItem, status: 'in_progress', arguments: '' } },
    { type: 'response.function_call_arguments.delta', ...locate(2), delta: '{}', ...pad },
    { type: 'response.function_call_arguments.done', ...locate(2), arguments: '{}' },
    { type: 'response.output_item.done', output_index: 2, item: callItem },
    { type: 'response.completed', response: completeResponse },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
  const bytes = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return (exchange) => (exchange.received.body.stream === true ? piecesReply(bytes) : jsonReply(completeResponse))(exchange);
}
