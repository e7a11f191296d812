import { useEffect, useRef, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useLanguage, useWordsOf } from '../words/words.tsx';
import { findHearing, type Hearing, listen, onChosen } from './recognition.ts';
import './dictation.css';
import { type DictationWords, dictationEnglish } from './dictation-english.ts';
import { dictationFrench } from './dictation-french.ts';
import { dictationGerman } from './dictation-german.ts';
import { dictationSpanish } from './dictation-spanish.ts';

interface DictateButtonProps {
  /** What is written already. */
  readonly text: string;
  readonly setText: (text: string) => void;
}

/** Writes what is said behind what is written, and stops; nothing where speech may not, or cannot, become text. */
export function DictateButton({ text, setText }: DictateButtonProps) {
  const { language } = useLanguage();
  const words = useDictationWords();
  const [hearing, setHearing] = useState<Hearing>();
  const [state, setState] = useState<'idle' | 'listening' | 'failed'>('idle');
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => {
    let isGone = false;
    const look = (): void => void findHearing(language).then((found) => !isGone && setHearing(found));
    look();
    const forget = onChosen(look);
    return () => {
      isGone = true;
      forget();
      leaving.current?.abort();
    };
  }, [language]);
  if (hearing === undefined) return null;
  const start = (): void => {
    const here = new AbortController();
    leaving.current = here;
    setState('listening');
    const before = text === '' || /\s$/.test(text) ? text : `${text} `;
    const tell = (heard: string): void => setText(before + heard);
    const settle = (next: 'idle' | 'failed') => () => leaving.current === here && setState(next);
    listen({ language, hearing, tell, signal: here.signal }).then(settle('idle'), settle('failed'));
  };
  const stop = (): void => {
    leaving.current?.abort();
    setState('idle');
  };
  const isListening = state === 'listening';
  const name = isListening ? words.stopDictating : words.dictate;
  return (
    <>
      <button
        {...{ type: 'button', 'aria-label': name, title: name, 'aria-pressed': isListening }}
        className={isListening ? 'icon-button listening' : 'icon-button'}
        onClick={isListening ? stop : start}
      >
        <Icon name={isListening ? 'stop' : 'microphone'} />
      </button>
      <p className="dictation-note small" role="status">
        {isListening && (hearing === 'maker' ? words.heardByMaker : words.heardHere)}
        {state === 'failed' && words.dictationFailed}
      </p>
    </>
  );
}

/** Apart from the other words, so that only who dictates loads them. */
function useDictationWords(): DictationWords {
  return useWordsOf({ en: dictationEnglish, de: dictationGerman, fr: dictationFrench, es: dictationSpanish });
}
