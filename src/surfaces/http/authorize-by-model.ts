import { isJsonObject } from '#base/json/json.ts';
import type { Calls, Target } from '#domain/call.ts';
import { isLargeBody, parseBody, readModel } from './read-request.ts';
import type { Exchange } from './request-context.ts';
import type { RequestHandler } from './request-handler.ts';

interface AuthorizedRequest {
  readonly target: Target;
  /** The parsed JSON body. Only its `model` is validated. */
  readonly value: unknown;
}

interface DeploymentNaming {
  /** Deployment ID from the path. It replaces `model` in the body. */
  readonly deployment?: string | undefined;
  /** Message of the error for a body without `model`. */
  readonly missingModelMessage?: string;
}

/** Returns the chat deployment that the path or `model` in the body names. Throws unless the caller may use it. */
export async function authorizeByModel(
  { handler, calls }: { readonly handler: RequestHandler; readonly calls: Calls },
  { context, caller }: Exchange,
  { deployment: inPath, missingModelMessage }: DeploymentNaming = {},
): Promise<AuthorizedRequest> {
  const bytes = await handler.readJson(context);
  const { length } = bytes;
  const value = withModel(parseBody(bytes), inPath);
  const deployment = readModel(value, missingModelMessage);
  const { id, record, request } = context;
  record.setDeployment(deployment);
  const target = await calls.authorize({ id, deployment, caller, record, origin: request }, 'chat');
  if (isLargeBody(length)) await new Promise(setImmediate);
  return { target, value };
}

function withModel(body: unknown, deployment: string | undefined): unknown {
  return deployment !== undefined && isJsonObject(body) ? { ...body, model: deployment } : body;
}
