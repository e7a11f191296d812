import type { Client, Prompt } from '@modelcontextprotocol/client';
import type { ExpiringValue } from '#base/cache/expiring-cache.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { refusalOf, serverFault, toServerFault } from './server-fault.ts';
import type { Session } from './session.ts';

const freshMs = 300_000;
const maxPrompts = 20;
const longestStarter = 4000;

/**
 * The prompts of a server that a conversation may begin with as they are: those that need no argument, and are a text of the
 * user alone, in the server's order, twenty at most. Rejects with ToolFault.
 */
export async function listStarters(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: { readonly connectMs: number; readonly listMs: number },
): Promise<ExpiringValue<readonly string[]>> {
  const whole = AbortSignal.timeout(connectMs + listMs);
  try {
    const value = await session.use(whole, async ({ client, mask }) => {
      if (client.getServerCapabilities()?.prompts === undefined) return [];
      const sending = { signal: whole, timeout: listMs };
      const { prompts } = await client.request({ method: 'prompts/list', params: {} }, sending);
      const usable = prompts.filter(needsNothing).slice(0, maxPrompts);
      const texts = await Promise.all(usable.map((prompt) => toStarter(client, prompt, sending)));
      return texts.flatMap((text) => (text === undefined ? [] : [mask(text)]));
    });
    return { value, freshMs };
  } catch (thrown) {
    if (whole.aborted) throw serverFault(settings.name, `did not list its prompts within ${listMs / 1000} s`, thrown);
    throw toServerFault(settings.name, thrown);
  }
}

function needsNothing({ arguments: given = [] }: Prompt): boolean {
  return given.every(({ required }) => required !== true);
}

/** The text that it is; undefined if it is none, or the server refuses it. */
async function toStarter(client: Client, { name }: Prompt, sending: object): Promise<string | undefined> {
  try {
    const { messages } = await client.getPrompt({ name }, sending);
    const texts = messages.map(({ role, content }) => (role === 'user' && content.type === 'text' ? content.text : undefined));
    const text = texts.includes(undefined) ? '' : texts.join('\n\n').trim();
    return text === '' || text.length > longestStarter ? undefined : text;
  } catch (thrown) {
    if (refusalOf(thrown) === undefined) throw thrown;
    return undefined;
  }
}
