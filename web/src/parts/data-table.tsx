import type { ReactNode } from 'react';
import './data-table.css';

export interface Column<Row> {
  readonly name: string;
  readonly render: (row: Row) => ReactNode;
  readonly isNumeric?: boolean;
}

interface DataTableProps<Row> {
  readonly label: string;
  /** The first column names the row. */
  readonly columns: readonly [Column<Row>, ...Column<Row>[]];
  readonly rows: readonly Row[];
  readonly getKey: (row: Row) => string;
  /** Whether rows become cards in a narrow window. */
  readonly isStacked?: boolean;
}

/** A table with headers. In a narrow window it scrolls or is stacked. */
export function DataTable<Row>({ label, columns, rows, getKey, isStacked }: DataTableProps<Row>) {
  const [firstColumn, ...otherColumns] = columns;
  const getClassName = ({ isNumeric }: Column<Row>): string | undefined => (isNumeric ? 'number' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
    <section className="table-frame" tabIndex={0} aria-label={label}>
      <table className={isStacked ? 'data-table stacked' : 'data-table'}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: several columns can have the same name
              <th key={index} scope="col" className={getClassName(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={getKey(row)}>
              <th scope="row">{firstColumn.render(row)}</th>
              {otherColumns.map((column, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: several columns can have the same name
                <td key={index} className={getClassName(column)} data-name={column.name}>
                  {column.render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
