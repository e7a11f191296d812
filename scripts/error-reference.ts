import { errorKinds, httpRefusals } from '#contract/errors.ts';

const opening = `# Errors

<!-- Made by scripts/generate-docs.ts out of src/contract/errors.ts; change it there. -->

Every failure is \`{"error": {"type", "message", "param", "code"}}\`, all four always there. \`message\` is one sentence for people, \`code\` is for programs, \`param\` names the
field at fault as a JSON path or is null. 429 and 503 carry \`Retry-After\` in seconds. A fault that an upstream tells keeps the upstream's own \`code\`.

| Status | type | code | What it means |
|---|---|---|---|
`;

/** The table of every code Parley gives, as Markdown. */
export function errorReference(): string {
  const kinds = Object.entries(errorKinds).map(([code, kind]) => ({ code, ...kind }));
  const { type } = errorKinds.invalid_request;
  const refusals = Object.entries(httpRefusals).map(([status, says]) => ({
    code: 'invalid_request',
    status: Number(status),
    type,
    says,
  }));
  const rows = [...kinds, ...refusals].sort((one, other) => one.status - other.status);
  return opening + rows.map(toRow).join('');
}

function toRow({ status, type, code, says }: Record<'type' | 'code' | 'says', string> & { status: number }): string {
  return `| ${status} | \`${type}\` | \`${code}\` | ${says.replaceAll('|', '\\|')} |\n`;
}
