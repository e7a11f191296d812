import { useNameOf } from '../page/page.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { useLanguage } from '../words/words.tsx';
import { amountOf, formatValue, type Measure } from './measure.ts';
import type { Usage, UsageRow } from './read-usage.ts';
import { useUsageWords } from './usage-words.ts';

interface UsageTableProps {
  readonly usage: Usage;
  readonly by: 'deployment' | 'user';
  readonly measure: Measure;
}

/** Sums by deployment or person, the largest first, each with its bar. */
export function UsageTable({ usage, by, measure }: UsageTableProps) {
  const words = useUsageWords();
  const { language } = useLanguage();
  const nameOf = useNameOf();
  const rows = usage.rows.toSorted((one, other) => amountOf(measure, other) - amountOf(measure, one));
  const highest = Math.max(...rows.map((row) => amountOf(measure, row)));
  const toName = (row: UsageRow): string => (by === 'deployment' ? nameOf(row.deployment) : row.user);
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
      show: (row) => row[`${each}Calls`].toLocaleString(language),
    }),
  );
  const name: Column<UsageRow> = {
    name: by === 'deployment' ? words.deployment : words.person,
    show: (row) => (
      <span title={row[by]}>
        {toName(row)}
        <Bar share={highest > 0 ? amountOf(measure, row) / highest : 0} />
      </span>
    ),
  };
  const title = by === 'deployment' ? words.byDeployment : words.byPerson;
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
