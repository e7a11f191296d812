import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const client = fileURLToPath(new URL('./conformance-client.ts', import.meta.url));

/** Ends a client that waits for ever. */
const longestScenarioMs = 30_000;
/** The suite warns if a client is late and fails it if it is later still, as any is on a busy machine. Only being early is wrong. */
const timing = 'client-sse-retry-timing';

interface Check {
  readonly id: string;
  readonly status: 'INFO' | 'SUCCESS' | 'WARNING' | 'FAILURE';
  readonly details?: { readonly tooEarly?: boolean };
}

/** What the suite checked, and what it has to say. */
function runScenario(scenario: string): Promise<{ readonly checks: readonly Check[]; readonly said: string }> {
  const command = `${process.execPath} ${client}`;
  const flags = ['--command', command, '--scenario', scenario, '--timeout', `${longestScenarioMs}`, '--verbose'];
  return new Promise((resolve) => {
    execFile(process.execPath, [suite, 'client', ...flags], (_error, stdout, stderr) =>
      resolve({ checks: JSON.parse(stdout), said: stderr }),
    );
  });
}

function isGood({ id, status, details }: Check): boolean {
  return status === 'SUCCESS' || (id === timing && details?.tooEarly === false);
}

const defaults = ['string', 'integer', 'number', 'enum', 'boolean'].map((type) => `client-elicitation-sep1034-${type}-default`);

// The scenarios of authorization are left out: a quick app has the authorization that is configured for it, and goes through no
// flow of OAuth that a server proposes. One check fails by design: a person may take days to answer, so the call that asks is
// cancelled with its question, and made again with the answer.
it.each([
  ['initialize', ['mcp-client-initialization'], []],
  ['tools_call', ['tool-add-numbers'], []],
  ['elicitation-sep1034-client-defaults', defaults, ['client-elicitation-sep1034-general']],
  ['sse-retry', ['client-sse-graceful-reconnect', timing, 'client-sse-last-event-id'], []],
])('the checks of the conformance suite in %s come out as they should', async (scenario, passed, failed) => {
  const { checks, said } = await runScenario(scenario);
  const judged = checks.filter(({ status }) => status !== 'INFO');
  const idsOf = (wanted: readonly Check[]): string[] => wanted.map(({ id }) => id).toSorted();
  expect(idsOf(judged.filter(isGood)), said).toEqual(passed.toSorted());
  expect(idsOf(judged.filter((check) => !isGood(check))), said).toEqual(failed);
  expect(said).not.toMatch(/CLIENT (TIMED OUT|EXITED)/);
});
