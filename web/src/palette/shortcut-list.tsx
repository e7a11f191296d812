import { Fragment, useId } from 'react';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { useWords } from '../words/words.tsx';
import { toKeys } from './keys.ts';
import type { PaletteWords } from './palette-english.ts';
import { usePaletteWords } from './palette-words.ts';
import '../parts/question-dialog.css';
import './palette.css';

type Shortcut = readonly [says: keyof PaletteWords & Saying, ...ways: readonly string[]];
type Saying = { [key in keyof PaletteWords]: PaletteWords[key] extends string ? key : never }[keyof PaletteWords];

/** Keys that are pressed together stand in one text, with spaces between. */
const groups: readonly (readonly [Saying, readonly Shortcut[]])[] = [
  [
    'everywhere',
    [
      ['find', 'Mod K'],
      ['begin', 'Mod Shift O'],
      ['list', '?', 'Mod /'],
      ['leave', 'Esc'],
    ],
  ],
  [
    'inMessage',
    [
      ['send', 'Enter'],
      ['line', 'Shift Enter'],
      ['editLast', '↑'],
      ['prompts', '/'],
      ['others', '@'],
    ],
  ],
  [
    'inLists',
    [
      ['neighbours', '↑', '↓'],
      ['ends', 'Home', 'End'],
      ['open', 'Enter'],
    ],
  ],
];

/** What the keys do. */
export function ShortcutList({ close }: { readonly close: () => void }) {
  const words = useWords();
  const own = usePaletteWords();
  const { dialog, leave } = useShownDialog(close);
  const title = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog shortcut-list', 'aria-labelledby': title, closedby: 'any' }}>
      <h2 id={title}>{own.shortcuts}</h2>
      {groups.map(([name, shortcuts]) => (
        <section key={name} aria-label={own[name]}>
          <h3 className="overline">{own[name]}</h3>
          <dl>
            {shortcuts.map(([says, ...ways]) => (
              <div key={says}>
                <dt>
                  {ways.map((keys, at) => (
                    <Fragment key={keys}>
                      {at > 0 && <span className="soft small"> {own.or} </span>}
                      {toKeys(keys).map((key) => (
                        <Fragment key={key}>
                          <kbd>{key}</kbd>{' '}
                        </Fragment>
                      ))}
                    </Fragment>
                  ))}
                </dt>
                <dd>{own[says]}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <div className="row end">
        <button type="button" className="button" onClick={leave}>
          {words.close}
        </button>
      </div>
    </dialog>
  );
}
