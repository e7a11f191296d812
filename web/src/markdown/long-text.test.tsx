import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SourceLink } from '../attachments/source-link.tsx';
import { SourcePanel } from '../attachments/source-panel.tsx';
import { SourceRow } from '../attachments/source-row.tsx';
import { ControlList } from '../chat/turns/control-list.tsx';

const word = 'x'.repeat(2_000);
const sources = [{ number: 1, citedNumber: 1, name: word, attachment: {} }];
const noOp = () => undefined;

it.each<[string, ReactNode]>([
  ['the title of the source panel', <SourcePanel key="" {...{ sources, selected: 1, show: noOp, close: noOp }} />],
  ['a source', <SourceRow key="" {...{ sources, selected: 1, show: noOp }} />],
  ['the origin of a source', <SourceLink key="" url={word} />],
  ...[{}, { type: 'string' }].map((schema): [string, ReactNode] => [
    `the label of a control with the schema ${JSON.stringify(schema)}`,
    <ControlList
      key=""
      {...{ controls: [{ index: 0, label: word, schema }], nextQuestion: undefined, sendMessage: undefined }}
    />,
  ]),
])('draws a very long word without kerning in %s', (_place, view) => {
  vi.stubGlobal('matchMedia', () => ({ matches: false }));
  onTestFinished(() => void vi.unstubAllGlobals());
  const kernedText = renderToStaticMarkup(view)
    .replace(/<span class="unkerned">[^<]*<\/span>/g, '')
    .replace(/<[^>]*>/g, '');
  expect(kernedText.includes(word)).toBe(false);
});
