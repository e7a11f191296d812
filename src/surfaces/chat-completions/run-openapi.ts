import type { ErrorCode } from '#contract/errors/errors.ts';
import { inPath, inQuery, json, listOperations, type NamedSchema, nameObject, reply, text } from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';
import { count } from '../http/openapi/shared-schemas.ts';
import { chatErrors, chatRequestByModel, toChatExamples } from './openapi.ts';
import { numberedChunk } from './reply-schema.ts';

const run = nameObject(
  'ChatRun',
  {
    id: text,
    object: { const: 'chat.run' },
    created_at: { type: 'integer', description: 'Seconds since the epoch.' },
    model: { ...text, description: 'ID of the deployment.' },
    status: { enum: ['in_progress', 'completed', 'failed', 'cancelled'] },
    duration_ms: {
      ...count,
      description: 'Milliseconds from the start to the end. Absent while the run is in progress, and if another node ended it.',
    },
  },
  ['duration_ms'],
);
const event: NamedSchema = { name: 'ChatRunEvent', schema: { anyOf: [numberedChunk, run] } };
const eventDescription =
  'The chunks, each with its `sequence_number`, then the run with its final status, then `data: [DONE]`. An error is an event `{"error": …, "sequence_number": …}` before the run.';
const events = { type: 'text/event-stream', schema: event } as const;

const idDescription = 'ID of the run, chosen by the client. At most 64 letters, digits, `_`, and `-`.';
const inRun = inPath('run', idDescription, exampleNames.chatRun);
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'response_not_found'];
/** Operations of chat completions that continue without their client. */
export const chatRunOperations = listOperations(
  { tag: 'Chat' },
  {
    'post /v1/chat-runs/{run}': {
      id: 'startChatRun',
      summary: 'Start a chat completion that continues without its client',
      description: `The body is the same as for \`POST /v1/chat/completions\`. With \`stream: true\`, the response has the events of the run: ${eventDescription} Without it, the response is the run that started. An error before the first chunk has its own status, and the run is deleted.`,
      parameters: [inPath('run', idDescription, exampleNames.newChatRun)],
      body: json(chatRequestByModel, toChatExamples({ model: exampleNames.chat })),
      responses: [{ status: 200, description: 'The run or its events.', content: [...json(run), events] }],
      errors: [...chatErrors, 'response_not_found', 'route_not_found', 'precondition_failed', 'too_many_chat_runs'],
    },
    'get /v1/chat-runs/{run}': {
      id: 'followChatRun',
      summary: 'Follow a chat run until it ends',
      description: eventDescription,
      parameters: [
        inRun,
        inQuery('starting_after', 'Sequence number of an event. The response has only later events.', {
          schema: count,
        }),
      ],
      responses: [{ status: 200, description: 'The events.', content: [events] }],
      errors: [...errors, 'invalid_request'],
    },
    'post /v1/chat-runs/{run}/cancel': {
      id: 'cancelChatRun',
      summary: 'Cancel a chat run',
      description: 'A run that has ended stays unchanged.',
      parameters: [inRun],
      responses: [reply(200, 'The run.', run)],
      errors,
    },
    'delete /v1/chat-runs/{run}': {
      id: 'deleteChatRun',
      summary: 'Delete a chat run, even if it is in progress',
      parameters: [inRun],
      responses: [reply(204, 'The run is deleted.')],
      errors,
    },
  },
);
