import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { locatePassage } from './source-panel.tsx';
import { SourceRow } from './source-row.tsx';

it.each([
  ['One. Two three. Four.', 'Two three.', 'One. ', 'Two three.', ' Four.'],
  ['One.\nTwo\n  three. Four.', ' Two three.\n', 'One.\n', 'Two\n  three.', ' Four.'],
  ['a (b) [c] $d', '(b) [c]', 'a ', '(b) [c]', ' $d'],
])('in %j, locates the passage %j', (document, wanted, before, passage, after) => {
  expect(locatePassage(document, wanted)).toEqual({ before, passage, after });
});

it('finds a passage by its first words if it continues differently', () => {
  const first = 'one two three four five six seven eight nine ten eleven twelve';
  expect(locatePassage(`Before ${first} and the rest.`, `${first} but shortened`)?.passage).toBe(first);
});

it.each(['', '  \n', 'absent'])('does not find %j', (passage) => {
  expect(locatePassage('One. Two.', passage)).toBeUndefined();
});

it('returns only the surroundings of the passage in a long document', () => {
  const context = locatePassage(`${'x '.repeat(50_000)}here${' y'.repeat(50_000)}`, 'here');
  expect([context?.before.length, context?.passage, context?.after.length]).toEqual([20_002, 'here', 20_002]);
  expect([context?.before.startsWith('… '), context?.after.endsWith(' …')]).toEqual([true, true]);
});

it('shows the start of a passage if several passages come from one document', () => {
  const sources = [
    { number: 1, citedNumber: 1, name: 'terms.md', attachment: { data: 'The warranty  lasts two years.' } },
    { number: 2, citedNumber: 2, name: 'terms.md', attachment: { data: 'x'.repeat(70), type: 'text/plain' } },
    { number: 3, citedNumber: 3, name: 'plan.md', attachment: { data: 'Alone.' } },
  ];
  const markup = renderToStaticMarkup(<SourceRow {...{ sources, selected: 1, show: () => undefined }} />);
  const names = [...markup.matchAll(/source-name">([^<]*)</g)].map(([, name]) => name);
  expect(names).toEqual(['“The warranty lasts two years.”', `“${'x'.repeat(60)}…”`, 'plan.md']);
});
