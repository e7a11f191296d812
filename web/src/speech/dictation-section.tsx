import { useState } from 'react';
import { useDisplayStrings } from '../display/display-strings.ts';
import { Segments } from '../parts/segments.tsx';
import { canRecognizeSpeech, chooseDictation, type DictationChoice, readDictation } from './recognition.ts';

/** Setting for dictation and its mode. Not rendered if the browser does not support dictation. */
export function DictationSection() {
  const strings = useDisplayStrings();
  const [choice, setChoice] = useState(readDictation);
  if (!canRecognizeSpeech()) return null;
  const choose = (next: DictationChoice): void => {
    chooseDictation(next);
    setChoice(next);
  };
  return (
    <>
      <Segments
        name={strings.dictation}
        value={choice}
        options={[
          ['off', strings.dictationOff],
          ['machine', strings.dictationMachine],
          ['maker', strings.dictationMaker],
        ]}
        {...{ onSelect: choose }}
      />
      <p className="note">{strings.dictationMeans[choice]}</p>
    </>
  );
}
