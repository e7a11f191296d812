import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import type { ExpiringValue } from '#base/expiring-cache.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { MuteServerFault, toServerFault } from './server-fault.ts';
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

/** Asks a server what it has. Rejects with ToolFault. */
export async function listServer(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: ListingTimes,
): Promise<ExpiringValue<ServerListing>> {
  const whole = AbortSignal.timeout(connectMs + listMs);
  let listing = whole;
  try {
    return await session.use(whole, async ({ client, mask }) => {
      const { tools: hasTools, resources } = client.getServerCapabilities() ?? {};
      const instructions = mask(client.getInstructions()?.trim().slice(0, longestInstructions) ?? '');
      const told = { instructions, hasResources: resources !== undefined };
      if (hasTools === undefined) return { value: { ...told, tools: [] }, freshMs: listFreshMs };
      listing = AbortSignal.timeout(listMs);
      const { tools, ttlMs } = await client.listTools({}, { signal: listing, timeout: listMs, cacheMode: 'bypass' });
      const freshMs = typeof ttlMs === 'number' ? Math.min(Math.max(ttlMs, 0), longestFreshMs) : listFreshMs;
      return { value: { ...told, tools }, freshMs };
    });
  } catch (thrown) {
    if (listing.aborted || whole.aborted)
      throw new MuteServerFault(settings.name, `did not list its tools within ${listMs / 1000} s`, thrown);
    throw toServerFault(settings.name, thrown);
  }
}
