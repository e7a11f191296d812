import type { Calls, Target } from '#domain/calls/call.ts';
import type { DeploymentUse } from '#domain/deployments/deployment.ts';
import { isLargeBody, parseBody, readModel } from './read-request.ts';
import type { Exchange } from './request-context.ts';
import type { RequestHandler } from './request-handler.ts';

/** Deployment that a path names. */
export interface PathDeployment {
  readonly deployment: string;
  /** Throws if the API version in the path is invalid. Call it after authorization. */
  readonly checkVersion: () => void;
}

/** Without a deployment in the path, `model` in the body names it. */
interface AuthorizeOptions extends Partial<PathDeployment> {
  /** Default: `chat`. */
  readonly use?: DeploymentUse;
  readonly wantsTrace?: boolean;
  /** Message of the error for a body without `model`. */
  readonly missingModelMessage?: string;
}

interface AuthorizedRequest {
  readonly target: Target;
  /** The parsed JSON body. Only a `model` that names the deployment is validated. */
  readonly value: unknown;
}

/**
 * Authorizes a call, checks the API version, and parses the body. If the path names the deployment, the body is parsed after the
 * other steps.
 */
export async function authorizeCall(
  { handler, calls }: { readonly handler: RequestHandler; readonly calls: Calls },
  { context, caller }: Exchange,
  { use = 'chat', deployment: inPath, checkVersion, wantsTrace = false, missingModelMessage }: AuthorizeOptions = {},
): Promise<AuthorizedRequest> {
  const bytes = await handler.readJson({ context, caller });
  const { length } = bytes;
  const parsed = inPath === undefined ? parseBody(bytes) : undefined;
  const deployment = inPath ?? readModel(parsed, missingModelMessage);
  const { id, record, request } = context;
  record.setDeployment(deployment);
  const target = await calls.authorize({ id, deployment, caller, record, origin: request, wantsTrace }, use);
  checkVersion?.();
  const value = parsed ?? parseBody(bytes);
  if (isLargeBody(length)) await new Promise(setImmediate);
  return { target, value };
}
