import type { ReactNode } from 'react';
import './data-table.css';

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

interface DataTableProps<Row> {
  readonly label: string;
  /** The first one names the row. */
  readonly columns: readonly [Column<Row>, ...Column<Row>[]];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Where the window is narrow, each row is a card. */
  readonly isStacked?: boolean;
}

/** Rows under their heads; where the window is narrow it scrolls by itself, or is stacked. */
export function DataTable<Row>({ label, columns, rows, keyOf, isStacked }: DataTableProps<Row>) {
  const [head, ...others] = columns;
  const look = ({ isNumber }: Column<Row>): string | undefined => (isNumber ? 'number' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard
    <section className="table-frame" tabIndex={0} aria-label={label}>
      <table className={isStacked ? 'data-table stacked' : 'data-table'}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={look(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row">{head.show(row)}</th>
              {others.map((column) => (
                <td key={column.name} className={look(column)} data-name={column.name}>
                  {column.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
