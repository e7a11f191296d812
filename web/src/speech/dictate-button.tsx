import { useEffect, useRef, useState } from 'react';
import { IconButton } from '../parts/icon.tsx';
import { useLanguage, useLocalizedStrings } from '../strings/strings.tsx';
import { findRecognitionMode, listen, onDictationChange, type RecognitionMode } from './recognition.ts';
import './dictation.css';
import { dictationGerman } from '../locales/de/chat/dictation.ts';
import { type DictationStrings, dictationEnglish } from '../locales/en/chat/dictation.ts';
import { dictationSpanish } from '../locales/es/chat/dictation.ts';
import { dictationFrench } from '../locales/fr/chat/dictation.ts';

interface DictateButtonProps {
  /** Text in the input. */
  readonly text: string;
  readonly setText: (text: string) => void;
}

/** Starts and stops dictation, which appends to the text. Not rendered if dictation is off or unavailable. */
export function DictateButton({ text, setText }: DictateButtonProps) {
  const { language } = useLanguage();
  const strings = useDictationStrings();
  const [mode, setMode] = useState<RecognitionMode>();
  const [state, setState] = useState<'idle' | 'listening' | 'failed'>('idle');
  const controller = useRef<AbortController>(undefined);
  useEffect(() => {
    let isCanceled = false;
    const update = (): void => void findRecognitionMode(language).then((nextMode) => !isCanceled && setMode(nextMode));
    update();
    const unsubscribe = onDictationChange(update);
    return () => {
      isCanceled = true;
      unsubscribe();
      controller.current?.abort();
    };
  }, [language]);
  if (mode === undefined) return null;
  const start = (): void => {
    const current = new AbortController();
    controller.current = current;
    setState('listening');
    const before = text === '' || /\s$/.test(text) ? text : `${text} `;
    const onText = (transcript: string): void => setText(before + transcript);
    const settle = (next: 'idle' | 'failed') => () => controller.current === current && setState(next);
    listen({ language, mode, onText, signal: current.signal }).then(settle('idle'), settle('failed'));
  };
  const stop = (): void => {
    controller.current?.abort();
    setState('idle');
  };
  const isListening = state === 'listening';
  const name = isListening ? strings.stopDictating : strings.dictate;
  return (
    <>
      <IconButton
        icon={isListening ? 'stop' : 'microphone'}
        className={isListening ? 'listening' : ''}
        label={name}
        aria-pressed={isListening}
        onClick={isListening ? stop : start}
      />
      <p className="dictation-note small" role="status">
        {isListening && (mode === 'online' ? strings.recognizedOnline : strings.recognizedOnDevice)}
        {state === 'failed' && strings.dictationFailed}
      </p>
    </>
  );
}

/** Texts of dictation, in a separate chunk that only users who dictate load. */
function useDictationStrings(): DictationStrings {
  return useLocalizedStrings({ en: dictationEnglish, de: dictationGerman, fr: dictationFrench, es: dictationSpanish });
}
