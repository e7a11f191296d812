import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { encodePath, type Service } from '../../service/service.ts';

const outcomes = ['answered', 'failed', 'not_run', 'asks'] as const;

/** Result of one tool run. */
export interface ToolTrialResult {
  readonly outcome: (typeof outcomes)[number];
  /** Text for the model. */
  readonly text: string;
  /** Number of files in the result. */
  readonly attachments: number;
  readonly durationMs: number;
  /** A value of `failure.reason` if the server cannot be used. */
  readonly reason?: string | undefined;
}

interface ToolsetTrial {
  readonly toolset: JsonObject;
  readonly tool: string;
  readonly args: JsonObject;
  /** ID of the stored application, whose secrets replace the hidden ones. */
  readonly application: string | undefined;
}

/** Throws `ServiceError`. */
export async function tryTool(
  service: Service,
  { toolset, tool, args, application }: ToolsetTrial,
  signal: AbortSignal,
): Promise<ToolTrialResult> {
  const body = { toolset, tool, arguments: args, ...(application !== undefined && { application }) };
  const answer = await service.json('v1/tools/run', { method: 'POST', body, signal });
  const { outcome, text, attachments, durationMs, failure } = isJsonObject(answer) ? answer : {};
  return {
    outcome: outcomes.find((item) => item === outcome) ?? 'failed',
    text: String(text ?? ''),
    attachments: Array.isArray(attachments) ? attachments.length : 0,
    durationMs: Number(durationMs),
    reason: isJsonObject(failure) ? String(failure.reason) : undefined,
  };
}

/** Calls another deployment as an application would call it as a tool. Throws `ServiceError`. */
export async function tryDeployment(service: Service, id: string, query: string, signal: AbortSignal): Promise<ToolTrialResult> {
  const startMs = performance.now();
  const body = { messages: [{ role: 'user', content: query }] };
  const answer = await service.json(`openai/deployments/${encodePath(id)}/chat/completions`, { method: 'POST', body, signal });
  const choices = isJsonObject(answer) && Array.isArray(answer.choices) ? answer.choices : [];
  const message = isJsonObject(choices[0]) && isJsonObject(choices[0].message) ? choices[0].message : {};
  const custom = isJsonObject(message.custom_content) ? message.custom_content : {};
  return {
    outcome: 'answered',
    text: typeof message.content === 'string' ? message.content : '',
    attachments: Array.isArray(custom.attachments) ? custom.attachments.length : 0,
    durationMs: performance.now() - startMs,
  };
}
