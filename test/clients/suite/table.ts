import { cells, deploymentIds, deployments, type Outcome } from './cells.ts';
import { knownFailures, matchesKnownFailure } from './known-failures.ts';
import type { Program } from './programs.ts';

/**
 * Returns the table of clients, deployments, and cells as Markdown, with a legend and the reasons for red cells. Clients that
 * pass everything have no row.
 */
export function toTable(programs: readonly Program[], outcomes: readonly Outcome[]): string {
  const clients = programs.flatMap((program) => Object.entries(program.clients));
  const rows = clients.map(([client]) => ({ client, signs: toSigns(client, outcomes) }));
  const isComplete = ({ signs }: (typeof rows)[number]): boolean => signs.every((sign) => sign === '✓');
  const red = outcomes.filter(({ ok }) => !ok);
  const reasons = knownFailures.filter((known) => red.some((outcome) => matchesKnownFailure(known, outcome))).map(toReason);
  const order = Object.values(deployments).join(', ');
  return [
    'All features work, except with the clients in this table.',
    '',
    `A cell has four signs, in this order: ${order}. A single sign applies to all four. ✓ works · ✗ does not work · – the client does not support it. \`whole\` is a JSON reply.`,
    '',
    `| Client | ${cells.join(' | ')} |`,
    `|---|${cells.map(() => '---|').join('')}`,
    ...rows.filter((row) => !isComplete(row)).map(({ client, signs }) => `| ${client} | ${signs.join(' | ')} |`),
    ...toSection('Reasons for failures:', reasons),
    ...toSection('Unsupported by the client:', toAbsent(clients)),
  ].join('\n');
}

function toSigns(client: string, outcomes: readonly Outcome[]): string[] {
  return cells.map((cell) => {
    const four = deploymentIds.map((deployment) => {
      const found = outcomes.find((each) => each.client === client && each.deployment === deployment && each.cell === cell);
      return found === undefined ? '–' : found.ok ? '✓' : '✗';
    });
    return new Set(four).size === 1 ? four.slice(0, 1).join('') : four.join('');
  });
}

function toReason({ clients = ['all clients'], deployments: on, cells: of, why }: (typeof knownFailures)[number]): string {
  const where = on?.map((each) => deployments[each]).join(', ');
  const scope = [where, of?.join(', ')].filter((part) => part !== undefined).join(': ');
  return `- ${clients.join(', ')}${scope === '' ? '' : ` (${scope})`}: ${why}.`;
}

/** Returns one line for each reason. */
function toAbsent(clients: readonly (readonly [string, Program['clients'][string]])[]): string[] {
  const absent = clients.flatMap(([client, without]) => Object.entries(without).map(([cell, why]) => ({ client, cell, why })));
  return [...new Set(absent.map(({ why }) => why))].map((why) => {
    const alike = absent.filter((each) => each.why === why);
    const names = (of: 'client' | 'cell') => [...new Set(alike.map((each) => each[of]))].join(', ');
    return `- ${names('client')} (${names('cell')}): ${why}.`;
  });
}

function toSection(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', heading, '', ...lines];
}
