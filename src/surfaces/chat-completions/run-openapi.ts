import type { ErrorCode } from '#contract/errors/errors.ts';
import { type ApiOperation, buildObject, inPath, inQuery, json, type NamedSchema } from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';
import { chatErrors, chatRequestByModel, toChatExamples } from './openapi.ts';
import { numberedChunk } from './reply-schema.ts';

const run: NamedSchema = {
  name: 'ChatRun',
  schema: buildObject({
    id: { type: 'string' },
    object: { const: 'chat.run' },
    created_at: { type: 'integer', description: 'Seconds since the epoch.' },
    model: { type: 'string', description: 'ID of the deployment.' },
    status: { enum: ['in_progress', 'completed', 'failed', 'cancelled'] },
  }),
};
const event: NamedSchema = { name: 'ChatRunEvent', schema: { anyOf: [numberedChunk, run] } };
const eventDescription =
  'The chunks, each with its `sequence_number`, then the run with its final status, then `data: [DONE]`. An error is an event `{"error": …, "sequence_number": …}` before the run.';
const events = { type: 'text/event-stream', schema: event } as const;

const idDescription = 'ID of the run, chosen by the client. At most 64 letters, digits, `_`, and `-`.';
const inRun = inPath('run', idDescription, exampleNames.chatRun);
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'response_not_found'];
const operations: readonly Omit<ApiOperation, 'tag'>[] = [
  {
    method: 'post',
    path: '/v1/chat-runs/{run}',
    id: 'startChatRun',
    summary: 'Start a chat completion that continues without its client',
    description: `The body is the same as for \`POST /v1/chat/completions\`. With \`stream: true\`, the response has the events of the run: ${eventDescription} Without it, the response is the run that started. An error before the first chunk has its own status, and the run is deleted.`,
    parameters: [inPath('run', idDescription, exampleNames.newChatRun)],
    body: json(chatRequestByModel, toChatExamples({ model: exampleNames.chat })),
    responses: [{ status: 200, description: 'The run or its events.', content: [...json(run), events] }],
    errors: [...chatErrors, 'response_not_found', 'route_not_found', 'precondition_failed', 'too_many_chat_runs'],
  },
  {
    method: 'get',
    path: '/v1/chat-runs/{run}',
    id: 'followChatRun',
    summary: 'Follow a chat run until it ends',
    description: eventDescription,
    parameters: [
      inRun,
      inQuery('starting_after', 'Sequence number of an event. The response has only later events.', {
        schema: { type: 'integer', minimum: 0 },
      }),
    ],
    responses: [{ status: 200, description: 'The events.', content: [events] }],
    errors: [...errors, 'invalid_request'],
  },
  {
    method: 'post',
    path: '/v1/chat-runs/{run}/cancel',
    id: 'cancelChatRun',
    summary: 'Cancel a chat run',
    description: 'A run that has ended stays unchanged.',
    parameters: [inRun],
    responses: [{ status: 200, description: 'The run.', content: json(run) }],
    errors,
  },
  {
    method: 'delete',
    path: '/v1/chat-runs/{run}',
    id: 'deleteChatRun',
    summary: 'Delete a chat run, even if it is in progress',
    parameters: [inRun],
    responses: [{ status: 204, description: 'The run is deleted.' }],
    errors,
  },
];

/** Operations of chat completions that continue without their client. */
export const chatRunOperations: readonly ApiOperation[] = operations.map((operation) => ({ ...operation, tag: 'Chat' }));
