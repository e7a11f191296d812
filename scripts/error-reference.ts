import { errorKinds } from '#contract/errors.ts';

const opening = `# Errors

<!-- Made by scripts/generate-docs.ts out of src/contract/errors.ts; change it there. -->

Every failure is \`{"error": {"type", "message", "param", "code"}}\`, all four always there. \`message\` is one sentence for people, \`code\` is for programs, \`param\` names the
field at fault as a JSON path or is null. 429 and 503 carry \`Retry-After\` in seconds. A fault that an upstream tells keeps the upstream's own \`code\`.

| Status | type | code | What it means |
|---|---|---|---|
`;

/** The table of every code Parley gives, as Markdown. */
export function errorReference(): string {
  const rows = Object.entries(errorKinds).map(
    ([code, { status, type, says }]) => `| ${status} | \`${type}\` | \`${code}\` | ${says.replaceAll('|', '\\|')} |\n`,
  );
  return opening + rows.join('');
}
