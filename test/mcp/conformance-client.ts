import { Caches } from '#base/cache/bounded-cache.ts';
import type { JsonObject } from '#base/json/json.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Tool, ToolContext } from '#domain/tools/tool.ts';
import { McpTools } from '#tools/mcp/mcp-tools.ts';
import { openNetwork, toSettings } from './network.ts';

/** The tool call of each scenario, by the scenario's name. */
const calls: ReadonlyMap<string, readonly [tool: string, args: JsonObject]> = new Map([
  ['tools_call', ['add_numbers', { a: 5, b: 3 }]],
  ['elicitation-sep1034-client-defaults', ['test_client_elicitation_defaults', {}]],
  ['sse-retry', ['test_reconnection', {}]],
]);

/** Runs a tool for a user who accepts each question without filling in values. */
async function run(tool: Tool, args: JsonObject, context: ToolContext): Promise<void> {
  const { text, failed, question } = await tool.run(args, context);
  if (failed) throw new Error(`${tool.name} failed: ${text}`);
  if (question !== undefined) await run(tool, args, { ...context, answer: { resume: question.resume, value: {} } });
}

/** Runs the client for the conformance suite. The scenario is in the environment, the server URL is the last argument. */
async function main(): Promise<void> {
  const { signal } = new AbortController();
  const tools = new McpTools(systemClock, new Caches());
  const user = { signal, subject: 'user', application: 'app' };
  const { tools: offered } = await tools.load(toSettings(process.argv.at(-1) ?? ''), openNetwork(systemClock), user);
  const [name, args] = calls.get(process.env.MCP_CONFORMANCE_SCENARIO ?? '') ?? [];
  if (name !== undefined && args !== undefined) {
    const tool = offered.find((candidate) => candidate.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    await run(tool, args, { signal, report: async () => undefined, cite: () => 1, maxResultBytes: 10_000 });
  }
  await tools.close();
}

await main();
