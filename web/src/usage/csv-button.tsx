import { useState } from 'react';
import { saveFile } from '../parts/device-files.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon } from '../parts/icon.tsx';
import { useAction } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { useLanguage } from '../strings/strings.tsx';
import type { DayRange } from './day-range.tsx';
import { readUsage, type Scope, type UsageRow } from './read-usage.ts';
import { useUsageStrings } from './usage-strings.ts';
import { useGetUsageName } from './use-get-usage-name.ts';

/** Maximum number of rows of one request. */
const maxRows = 10_000;

/** A button that downloads the usage by day and deployment as CSV. The usage of all users is also grouped by user. */
export function CsvButton({ scope, range }: { readonly scope: Scope; readonly range: DayRange }) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const { service, announce } = usePage();
  const getName = useGetUsageName();
  const { error, run } = useAction();
  const [isTruncated, setIsTruncated] = useState(false);
  const download = async (): Promise<void> => {
    const by = scope === 'all' ? (['day', 'deployment', 'user'] as const) : (['day', 'deployment'] as const);
    const usage = await readUsage(service, { scope, ...range, by, limit: maxRows });
    const name = `usage-${range.from}-${range.to}.csv`;
    saveFile(name, new Blob([toCsv(usage.rows, getName, scope === 'all')], { type: 'text/csv;charset=utf-8' }));
    setIsTruncated(usage.isTruncated);
    announce(name);
  };
  return (
    <>
      <button type="button" className="button" onClick={() => void run(download)}>
        <Icon name="save" />
        {strings.csv}
      </button>
      <ErrorMessage error={error} />
      {isTruncated && (
        <p className="soft small" role="status">
          {strings.csvTruncated(maxRows.toLocaleString(locale))}
        </p>
      )}
    </>
  );
}

/**
 * Formats usage rows as CSV (RFC 4180), with the displayed name and the ID of each deployment. A text that a spreadsheet would
 * treat as a formula gets a leading apostrophe.
 */
export function toCsv(rows: readonly UsageRow[], getName: (id: string) => string, includesUser: boolean): string {
  const columns = ['day', 'deployment_name', 'deployment', ...(includesUser ? ['user'] : [])];
  const lines = rows.map(({ day, deployment, user, calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost }) => [
    ...[day, getName(deployment), deployment, ...(includesUser ? [user] : [])].map(toCell),
    ...[calls, failedCalls, refusedCalls, promptTokens, completionTokens, Number(cost.toFixed(9))],
  ]);
  const all = [
    [...columns, 'calls', 'failed_calls', 'refused_calls', 'prompt_tokens', 'completion_tokens', 'cost_usd'],
    ...lines,
  ];
  return all.map((cells) => `${cells.join(',')}\r\n`).join('');
}

function toCell(text: string): string {
  const safeText = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText;
}
