import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import type { ExpiringValue } from '#base/expiring-cache.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { ServerDeadline } from './server-deadlines.ts';
import { MuteServerFault, serverFault, toServerFault } from './server-fault.ts';
import type { Session } from './session.ts';

const listFreshMs = 60_000;
const longestFreshMs = 3_600_000;
/** In characters; whoever tells a model of it shortens it further. */
const longestInstructions = 64_000;

/** What a server says that it has. */
export interface ServerListing {
  readonly tools: readonly ListedTool[];
  /** In the server's own words, how it is used; empty: it says nothing. Credentials are masked. */
  readonly instructions: string;
  readonly hasResources: boolean;
}

/** Milliseconds for connecting, and from then until all is listed. */
interface ListingTimes {
  readonly connectMs: number;
  readonly listMs: number;
}

/** Why a list is not there although the server did not keep Parley waiting for its full time. */
function notInTime(maxMs: number): string {
  return `could not be connected and list its tools within ${maxMs / 1000} s, the wait for its credentials included`;
}

/** Asks a server what it has. Rejects with ToolFault. */
export async function listServer(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: ListingTimes,
): Promise<ExpiringValue<ServerListing>> {
  const whole = AbortSignal.timeout(connectMs + listMs);
  let deadline: ServerDeadline | undefined;
  try {
    return await session.use(whole, async (connection) => {
      const { client, mask } = connection;
      const { tools: hasTools, resources } = client.getServerCapabilities() ?? {};
      const instructions = mask(client.getInstructions()?.trim().slice(0, longestInstructions) ?? '');
      const told = { instructions, hasResources: resources !== undefined };
      if (hasTools === undefined) return { value: { ...told, tools: [] }, freshMs: listFreshMs };
      deadline = connection.startDeadline(listMs);
      const options = { signal: deadline.signal, timeout: connectMs + listMs, cacheMode: 'bypass' } as const;
      const { tools, ttlMs } = await client.listTools({}, options);
      const freshMs = typeof ttlMs === 'number' ? Math.min(Math.max(ttlMs, 0), longestFreshMs) : listFreshMs;
      return { value: { ...told, tools }, freshMs };
    });
  } catch (thrown) {
    if (deadline?.signal.aborted === true)
      throw new MuteServerFault(settings.name, `did not list its tools within ${listMs / 1000} s`, thrown);
    if (whole.aborted) throw serverFault(settings.name, notInTime(connectMs + listMs), thrown);
    throw toServerFault(settings.name, thrown);
  } finally {
    deadline?.end();
  }
}
