import type { Calls, Target } from '#domain/call.ts';
import { parseBody, readModel } from './read-request.ts';
import type { RequestContext } from './request-context.ts';
import type { RequestHandler } from './request-handler.ts';

interface Authorized {
  readonly target: Target;
  /** The body, as JSON; nothing but its `model` is checked. */
  readonly value: unknown;
}

/** The deployment for chat that `model` of a body names, once the caller may use it. `unnamed` is said of a body that names none. */
export async function authorizeByModel(
  { handler, calls }: { readonly handler: RequestHandler; readonly calls: Calls },
  context: RequestContext,
  unnamed?: string,
): Promise<Authorized> {
  const { caller, bytes } = await handler.authenticate(context);
  const value = parseBody(bytes);
  const deployment = readModel(value, unnamed);
  const { id, record, request } = context;
  record.deployment(deployment);
  const target = await calls.authorize({ id, deployment, caller, record, origin: request }, 'chat');
  return { target, value };
}
