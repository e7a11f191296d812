import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { IconButton } from '../parts/icon.tsx';
import { useLanguage } from '../strings/strings.tsx';

/** Starts and stops reading a markdown text aloud. Not rendered if the device has no local voice. */
export function ReadAloudButton({ text }: { readonly text: string }) {
  const { strings, language } = useLanguage();
  const hasVoice = useSyncExternalStore(subscribeToVoices, () => findVoice(language) !== undefined);
  const [isReading, setIsReading] = useState(false);
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  if (!hasVoice) return null;
  const readAloud = async (): Promise<void> => {
    const current = new AbortController();
    controller.current = current;
    setIsReading(true);
    const sentences = await import('./to-spoken.ts').then(
      ({ toSpoken }) => toSpoken(text, language),
      () => [],
    );
    if (!current.signal.aborted) await speak(sentences, language, current.signal);
    if (controller.current === current) setIsReading(false);
  };
  const stop = (): void => {
    controller.current?.abort();
    setIsReading(false);
  };
  const name = isReading ? strings.stopReading : strings.readAloud;
  return <IconButton icon={isReading ? 'stop' : 'aloud'} label={name} onClick={() => (isReading ? stop() : void readAloud())} />;
}

function subscribeToVoices(onChange: () => void): () => void {
  // Some browsers do not report that voices have loaded.
  const { speechSynthesis: synthesis } = globalThis as { speechSynthesis?: SpeechSynthesis };
  synthesis?.addEventListener?.('voiceschanged', onChange);
  return () => synthesis?.removeEventListener?.('voiceschanged', onChange);
}

/** Returns a local voice for the language, or another local voice. Voices that send the text to another party are not used. */
function findVoice(language: string): SpeechSynthesisVoice | undefined {
  const localVoices = (globalThis.speechSynthesis?.getVoices() ?? []).filter(({ localService }) => localService);
  return (
    localVoices.find(({ lang }) => lang.toLowerCase().startsWith(language)) ??
    localVoices.find((voice) => voice.default) ??
    localVoices[0]
  );
}

/** Reads sentences until the signal aborts or another text is read. */
async function speak(sentences: readonly string[], language: string, signal: AbortSignal): Promise<void> {
  speechSynthesis.cancel();
  const voice = findVoice(language);
  const stop = (): void => speechSynthesis.cancel();
  signal.addEventListener('abort', stop);
  for (const sentence of sentences) if (signal.aborted || !(await speakSentence(sentence, voice))) break;
  signal.removeEventListener('abort', stop);
}

/** Resolves with whether the sentence was read to its end. */
function speakSentence(sentence: string, voice: SpeechSynthesisVoice | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const utterance = new SpeechSynthesisUtterance(sentence);
    if (voice !== undefined) {
      utterance.voice = voice;
      utterance.lang = voice.lang;
    }
    utterance.onend = () => resolve(true);
    utterance.onerror = () => resolve(false);
    speechSynthesis.speak(utterance);
  });
}
