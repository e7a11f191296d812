import { errorMeanings, httpRefusals } from '#contract/errors/error-meanings.ts';
import { type ErrorCode, errorKinds } from '#contract/errors/errors.ts';

const opening = `# Errors

<!-- Made by scripts/generate-docs.ts out of src/contract/errors/errors.ts and error-meanings.ts; change it there. -->

Every code that Parley gives. The shape of an error, and what becomes of the faults of upstreams: [the wire](wire.md#errors).

| Status | type | code | What it means |
|---|---|---|---|
`;

/** Returns a Markdown table of all error codes. */
export function errorReference(): string {
  const kinds = Object.entries(errorKinds).map(([code, kind]) => ({ code, ...kind, says: errorMeanings[code as ErrorCode] }));
  const { type } = errorKinds.invalid_request;
  const refusals = Object.entries(httpRefusals).map(([status, says]) => ({
    code: 'invalid_request',
    status: Number(status),
    type,
    says,
  }));
  const rows = [...kinds, ...refusals].sort((left, right) => left.status - right.status);
  return opening + rows.map(toRow).join('');
}

function toRow({ status, type, code, says }: Record<'type' | 'code' | 'says', string> & { status: number }): string {
  return `| ${status} | \`${type}\` | \`${code}\` | ${says.replaceAll('|', '\\|')} |\n`;
}
