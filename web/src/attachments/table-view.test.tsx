import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { TableView } from './attachment-body.tsx';

it('shows only the first columns of a wide table', () => {
  const markup = renderToStaticMarkup(<TableView text={`a,b\n${Array(300).fill('x').join(',')}\n`} />);
  expect(markup.match(/<td/g)).toHaveLength(100);
  expect(markup).toContain('200 more columns are in the download.');
});
