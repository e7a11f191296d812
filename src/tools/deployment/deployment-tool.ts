import { type JsonObject, toObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Chunk, Delta } from '#contract/chat/chunk.ts';
import { foldFrames, toolResultBound } from '#contract/chat/fold-frames.ts';
import { toolOutput } from '#contract/chat/message.ts';
import type { InnerReply } from '#domain/calls/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { type Attachment, type Tool, type ToolContext, ToolError, type ToolResult } from '#domain/tools/tool.ts';

/** Sends a request to the deployment on behalf of the application's caller. Rejects with `ParleyError`. */
export type SendToDeployment = (request: ChatRequest, signal: AbortSignal) => Promise<InnerReply>;

const parameters: JsonObject = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'A complete question. The conversation is not visible to the tool.' },
    attachments: {
      type: 'array',
      description: 'Files that belong to the question.',
      items: {
        type: 'object',
        properties: {
          type: { type: 'string', description: 'MIME type.' },
          title: { type: 'string' },
          url: { type: 'string', description: 'Address of the content, as in the conversation.' },
        },
        required: ['url'],
      },
    },
  },
  required: ['query'],
};

/**
 * Creates a tool that calls another deployment. Its stages and attachments are forwarded, and its text is the result for the
 * model.
 */
export function createDeploymentTool(deployment: Deployment, sendRequest: SendToDeployment): Tool {
  const { id, kind, displayName = id, description = '' } = deployment;
  return {
    name: id,
    description: `Asks the ${kind} ${displayName}. ${description}`.trim(),
    parameters,
    async run(args, context) {
      const reply = await sendRequest(toRequest(args), context.signal);
      try {
        return await readReply(reply, context, displayName);
      } finally {
        await context.report({ usage: reply.used() });
      }
    },
  };
}

function toRequest({ query, attachments }: JsonObject): ChatRequest {
  if (typeof query !== 'string' || query.trim() === '') throw new ToolError('The argument query is missing: it must be a text.');
  const items = Array.isArray(attachments) ? attachments.map(toAttachment) : [];
  const custom_content = items.length > 0 ? { custom_content: { attachments: items } } : {};
  return { messages: [{ role: 'user', [toolOutput]: true, content: query, ...custom_content }], stream: true };
}

function toAttachment(value: unknown, index: number): { index: number; type?: string; title?: string; url: string } {
  const { url, type, title } = toObject(value);
  if (typeof url !== 'string' || url === '') throw new ToolError('Each of the attachments must have a url.');
  return { index, url, ...(typeof type === 'string' && { type }), ...(typeof title === 'string' && { title }) };
}

async function readReply(reply: InnerReply, context: ToolContext, name: string): Promise<ToolResult> {
  const { choices } = await foldFrames(reply.frames, toolResultBound, (chunk) => reportStages(chunk, context));
  const [choice] = choices;
  const { content, custom_content } = choice?.message ?? {};
  if (choice?.finish_reason === 'function_call' || choice?.finish_reason === 'tool_calls')
    throw new ToolError(`${name} requested a function call, which is not possible for a deployment that is used as a tool.`);
  const attachments = (custom_content?.attachments ?? []).map(({ index: _index, ...otherFields }): Attachment => otherFields);
  return { text: content ?? '', attachments, failed: false };
}

async function reportStages({ choices }: Chunk, context: ToolContext): Promise<void> {
  for (const { delta } of choices) {
    const stages = (delta as Delta | undefined)?.custom_content?.stages;
    if (Array.isArray(stages) && stages.length > 0) await context.report({ stages });
  }
}
