/**
 * A voice of this machine for a language, another one of this machine where it has none of that; voices that send what they read
 * to somebody else are not taken.
 */
export function findVoice(language: string): SpeechSynthesisVoice | undefined {
  const own = (globalThis.speechSynthesis?.getVoices() ?? []).filter(({ localService }) => localService);
  return own.find(({ lang }) => lang.toLowerCase().startsWith(language)) ?? own.find((voice) => voice.default) ?? own[0];
}

/** Reads sentences until the signal comes, or something else is read. */
export async function speak(sentences: readonly string[], language: string, signal: AbortSignal): Promise<void> {
  speechSynthesis.cancel();
  const voice = findVoice(language);
  const stop = (): void => speechSynthesis.cancel();
  signal.addEventListener('abort', stop);
  for (const sentence of sentences) if (signal.aborted || !(await speakOne(sentence, voice))) break;
  signal.removeEventListener('abort', stop);
}

/** Resolves with whether it was read to its end. */
function speakOne(sentence: string, voice: SpeechSynthesisVoice | undefined): Promise<boolean> {
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
