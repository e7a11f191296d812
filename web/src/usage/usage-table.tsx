import { useNameOf } from '../page/page.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { useLanguage } from '../words/words.tsx';
import { CallsLink } from './calls-link.tsx';
import type { DayRange } from './days.ts';
import { amountOf, formatValue, type Measure } from './measure.ts';
import type { CallsOf } from './read-calls.ts';
import type { Usage, UsageRow } from './read-usage.ts';
import { useUsageWords } from './usage-words.ts';

interface UsageTableProps {
  readonly usage: Usage;
  readonly by: 'deployment' | 'user' | 'project';
  readonly range: DayRange;
  readonly measure: Measure;
  readonly open: (of: CallsOf) => void;
}

/** Sums by deployment, person or project, the largest first, each with its bar and the way to its calls. */
export function UsageTable({ usage, by, range, measure, open }: UsageTableProps) {
  const words = useUsageWords();
  const { language } = useLanguage();
  const nameOf = useNameOf();
  const rows = usage.rows.toSorted((one, other) => amountOf(measure, other) - amountOf(measure, one));
  const highest = Math.max(...rows.map((row) => amountOf(measure, row)));
  const toName = (row: UsageRow): string => (by === 'deployment' ? nameOf(row.deployment) : row[by]) || words.nobody;
  const numbers = (['cost', 'tokens', 'calls'] as const).map(
    (each): Column<UsageRow> => ({
      name: words[each],
      isNumber: true,
      show: (row) => formatValue(each, amountOf(each, row), language),
    }),
  );
  const outcomes = (['failed', 'refused'] as const).map(
    (each): Column<UsageRow> => ({
      name: words[each],
      isNumber: true,
      show: (row) => {
        const count = row[`${each}Calls`].toLocaleString(language);
        const of = { ...range, [by]: row[by], outcome: each };
        const label = words.callsThat(count, words[each], toName(row));
        return row[`${each}Calls`] === 0 ? count : <CallsLink {...{ of, open, label }}>{count}</CallsLink>;
      },
    }),
  );
  const name: Column<UsageRow> = {
    name: { deployment: words.deployment, user: words.person, project: words.project }[by],
    show: (row) => (
      <span title={row[by]}>
        <CallsLink {...{ open, label: words.showCalls(toName(row)) }} of={{ ...range, [by]: row[by] }}>
          {toName(row)}
        </CallsLink>
        <Bar share={highest > 0 ? amountOf(measure, row) / highest : 0} />
      </span>
    ),
  };
  const title = { deployment: words.byDeployment, user: words.byPerson, project: words.byProject }[by];
  return (
    <>
      <h3>{title}</h3>
      <DataTable label={title} columns={[name, ...numbers, ...outcomes]} {...{ rows, keyOf: (row: UsageRow) => row[by] }} />
      {usage.isCut && <p className="soft small">{words.cutNote(rows.length.toLocaleString(language))}</p>}
    </>
  );
}

function Bar({ share }: { readonly share: number }) {
  return (
    <svg className="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={Math.max(share * 100, share > 0 ? 0.5 : 0)} height="4" />
    </svg>
  );
}
