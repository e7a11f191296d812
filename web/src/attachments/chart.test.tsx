import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Chart } from './chart.tsx';

it('lists all values of a label in the table, and series with the same name separately', () => {
  const data = [
    { type: 'bar', name: 'Sales', x: ['May', 'May', 1, '1'], y: [2, 3, 4, 5] },
    { type: 'bar', name: 'Sales', x: ['May'], y: [6] },
  ];
  const markup = renderToStaticMarkup(<Chart title="Sales" text={JSON.stringify({ data })} />);
  const rows = [...markup.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) => row.replace(/<[^>]*>/g, '|'));
  expect(rows.map((row) => row.split('|').filter(Boolean))).toEqual([
    ['Sales', 'Sales'],
    ['May', '2 · 3', '6'],
    ['1', '4 · 5'],
  ]);
});

it('shows only the first rows of a long table', () => {
  const toLabels = (prefix: string) => Array.from({ length: 300 }, (_, index) => `${prefix}${index}`);
  const data = ['a', 'b'].map((prefix) => ({ type: 'bar', x: toLabels(prefix), y: Array(300).fill(1) }));
  const markup = renderToStaticMarkup(<Chart title="Sales" text={JSON.stringify({ data })} />);
  expect(markup.match(/<tr>/g)).toHaveLength(1 + 200);
  expect(markup).toContain('400 more rows are in the download.');
});
