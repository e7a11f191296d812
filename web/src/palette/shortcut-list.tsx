import { Fragment, useId } from 'react';
import type { PaletteStrings } from '../locales/en/palette.ts';
import { TextButton } from '../parts/icon.tsx';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { useStrings } from '../strings/strings.tsx';
import { formatKeys } from './format-keys.ts';
import { usePaletteStrings } from './palette-strings.ts';
import '../parts/question-dialog.css';
import './palette.css';

type Shortcut = readonly [description: PlainStringKey, ...combinations: readonly string[]];
/** Keys of texts without arguments. */
type PlainStringKey = { [key in keyof PaletteStrings]: PaletteStrings[key] extends string ? key : never }[keyof PaletteStrings];

/** Groups of shortcuts. A combination of keys is one text, separated by spaces. */
const groups: readonly (readonly [PlainStringKey, readonly Shortcut[]])[] = [
  [
    'everywhere',
    [
      ['find', 'Mod K'],
      ['newChat', 'Mod Shift O'],
      ['showShortcuts', '?', 'Mod /'],
      ['closeDialog', 'Esc'],
    ],
  ],
  [
    'inMessage',
    [
      ['send', 'Enter'],
      ['newLine', 'Shift Enter'],
      ['editLast', '↑'],
      ['prompts', '/'],
      ['otherModels', '@'],
    ],
  ],
  [
    'inLists',
    [
      ['previousOrNext', '↑', '↓'],
      ['firstOrLast', 'Home', 'End'],
      ['open', 'Enter'],
    ],
  ],
];

/** Lists the keyboard shortcuts. */
export function ShortcutList({ close }: { readonly close: () => void }) {
  const strings = useStrings();
  const paletteStrings = usePaletteStrings();
  const { dialog, closeDialog } = useModalDialog(close);
  const titleId = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog shortcut-list', 'aria-labelledby': titleId, closedby: 'any' }}>
      <h2 id={titleId}>{paletteStrings.shortcuts}</h2>
      {groups.map(([name, shortcuts]) => (
        <section key={name} aria-label={paletteStrings[name]}>
          <h3 className="overline">{paletteStrings[name]}</h3>
          <dl>
            {shortcuts.map(([stringKey, ...combinations]) => (
              <div key={stringKey}>
                <dt>
                  {combinations.map((keys, index) => (
                    <Fragment key={keys}>
                      {index > 0 && <span className="soft small"> {paletteStrings.or} </span>}
                      {formatKeys(keys).map((key) => (
                        <Fragment key={key}>
                          <kbd>{key}</kbd>{' '}
                        </Fragment>
                      ))}
                    </Fragment>
                  ))}
                </dt>
                <dd>{paletteStrings[stringKey]}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <div className="row end">
        <TextButton onClick={closeDialog}>{strings.close}</TextButton>
      </div>
    </dialog>
  );
}
