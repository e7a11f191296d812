import { useState } from 'react';
import { useDisplayWords } from '../display/display-words.ts';
import { Segments } from '../parts/segments.tsx';
import { canHear, chooseDictation, type DictationChoice, readDictation } from './recognition.ts';

/** Whether messages are dictated, and where speech may become text; nothing where the browser takes no dictation. */
export function DictationSection() {
  const words = useDisplayWords();
  const [choice, setChoice] = useState(readDictation);
  if (!canHear()) return null;
  const choose = (next: DictationChoice): void => {
    chooseDictation(next);
    setChoice(next);
  };
  return (
    <>
      <Segments
        name={words.dictation}
        value={choice}
        options={[
          ['off', words.dictationOff],
          ['machine', words.dictationMachine],
          ['maker', words.dictationMaker],
        ]}
        {...{ choose }}
      />
      <p className="note">{words.dictationMeans[choice]}</p>
    </>
  );
}
