import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useLanguage } from '../words/words.tsx';
import { findVoice, speak } from './speak.ts';

/** Reads a markdown text aloud, and stops; nothing where the machine has no voice of its own. */
export function ReadAloudButton({ text }: { readonly text: string }) {
  const { words, language } = useLanguage();
  const hasVoice = useSyncExternalStore(onVoices, () => findVoice(language) !== undefined);
  const [isReading, setIsReading] = useState(false);
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  if (!hasVoice) return null;
  const read = async (): Promise<void> => {
    const here = new AbortController();
    leaving.current = here;
    setIsReading(true);
    const sentences = await import('./to-spoken.ts').then(
      ({ toSpoken }) => toSpoken(text, language),
      () => [],
    );
    if (!here.signal.aborted) await speak(sentences, language, here.signal);
    if (leaving.current === here) setIsReading(false);
  };
  const stop = (): void => {
    leaving.current?.abort();
    setIsReading(false);
  };
  const name = isReading ? words.stopReading : words.readAloud;
  return (
    <button
      {...{ type: 'button', className: 'icon-button', 'aria-label': name, title: name }}
      onClick={() => (isReading ? stop() : void read())}
    >
      <Icon name={isReading ? 'stop' : 'aloud'} />
    </button>
  );
}

function onVoices(view: () => void): () => void {
  // Not every browser tells that it has found voices.
  const { speechSynthesis: synthesis } = globalThis as { speechSynthesis?: SpeechSynthesis };
  synthesis?.addEventListener?.('voiceschanged', view);
  return () => synthesis?.removeEventListener?.('voiceschanged', view);
}
