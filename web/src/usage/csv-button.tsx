import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { saveFile } from '../parts/save-file.ts';
import { Trouble } from '../parts/trouble.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import type { DayRange } from './days.ts';
import { readUsage, type Scope, type UsageRow } from './read-usage.ts';
import { useUsageWords } from './usage-words.ts';

/** As many as the service gives at once. */
const mostRows = 10_000;

/** Hands what was used to the user as separated values, by day and deployment, and of everybody by person as well. */
export function CsvButton({ scope, range }: { readonly scope: Scope; readonly range: DayRange }) {
  const words = useUsageWords();
  const { language } = useLanguage();
  const { service, announce } = usePage();
  const [fault, setFault] = useState<Fault>();
  const [isCut, setIsCut] = useState(false);
  const hand = (): void => {
    const by = scope === 'all' ? (['day', 'deployment', 'user'] as const) : (['day', 'deployment'] as const);
    readUsage(service, { scope, ...range, by, limit: mostRows }).then(
      (usage) => {
        const name = `usage-${range.from}-${range.to}.csv`;
        saveFile(name, new Blob([toCsv(usage.rows, scope === 'all')], { type: 'text/csv;charset=utf-8' }));
        setFault(undefined);
        setIsCut(usage.isCut);
        announce(name);
      },
      (thrown: unknown) => setFault(faultOf(thrown)),
    );
  };
  return (
    <>
      <button type="button" className="button" onClick={hand}>
        <Icon name="save" />
        {words.csv}
      </button>
      <Trouble fault={fault} />
      {isCut && (
        <p className="soft small" role="status">
          {words.csvCut(mostRows.toLocaleString(language))}
        </p>
      )}
    </>
  );
}

/** Rows of usage as separated values (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function toCsv(rows: readonly UsageRow[], withUser: boolean): string {
  const heads = ['day', 'deployment', ...(withUser ? ['user'] : [])];
  const lines = rows.map(({ day, deployment, user, calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost }) => [
    ...[day, deployment, ...(withUser ? [user] : [])].map(toCell),
    ...[calls, failedCalls, refusedCalls, promptTokens, completionTokens, Number(cost.toFixed(9))],
  ]);
  const all = [[...heads, 'calls', 'failed_calls', 'refused_calls', 'prompt_tokens', 'completion_tokens', 'cost_usd'], ...lines];
  return all.map((cells) => `${cells.join(',')}\r\n`).join('');
}

function toCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
