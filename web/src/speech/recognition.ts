/** The part of the browser's speech recognition that the page uses. The DOM types do not fully cover it. */
interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  /** Whether speech stays on this device. Browsers without this option ignore it. */
  processLocally?: boolean;
  start(): void;
  stop(): void;
}

interface RecognitionClass {
  new (): Recognition;
  available?(options: { readonly langs: readonly string[]; readonly processLocally: boolean }): Promise<string>;
}

/** The `result` event with all recognized pieces. The first guess of each piece is the best. */
interface RecognitionResultEvent extends Event {
  readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }>>;
}

/** Location of the speech recognition: this device, or the service of the browser's vendor. */
export type RecognitionMode = 'onDevice' | 'online';

/** The user's choice. Dictation is off by default. */
export type DictationChoice = 'off' | RecognitionMode;

const storageKey = 'parley dictation';
const storedChoices: Readonly<Record<DictationChoice, string>> = { off: 'off', onDevice: 'machine', online: 'maker' };

function findRecognitionClass(): RecognitionClass | undefined {
  const { SpeechRecognition: standard, webkitSpeechRecognition: prefixed } = globalThis as {
    SpeechRecognition?: RecognitionClass;
    webkitSpeechRecognition?: RecognitionClass;
  };
  return standard ?? prefixed;
}

export function canRecognizeSpeech(): boolean {
  return findRecognitionClass() !== undefined;
}

export function readDictation(): DictationChoice {
  const stored = canRecognizeSpeech() && localStorage.getItem(storageKey);
  return (['onDevice', 'online'] as const).find((mode) => storedChoices[mode] === stored) ?? 'off';
}

export function saveDictation(choice: DictationChoice): void {
  localStorage.setItem(storageKey, storedChoices[choice]);
  // Other tabs receive this event from the browser.
  dispatchEvent(new StorageEvent('storage', { key: storageKey }));
}

/** Calls the listener when the choice changes, here or in another tab. Returns a function that unsubscribes. */
export function onDictationChange(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent): unknown => key === storageKey && listener();
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

/**
 * Returns the mode in which the browser recognizes a language, or undefined if no allowed mode is available. Queries the browser
 * only if the user enabled dictation, because browsers without a speech service may fail badly.
 */
export async function findRecognitionMode(language: string): Promise<RecognitionMode | undefined> {
  const recognitionClass = findRecognitionClass();
  const choice = readDictation();
  if (recognitionClass === undefined || choice === 'off') return undefined;
  const availability = await recognitionClass.available?.({ langs: [language], processLocally: true }).catch(() => undefined);
  if (availability === 'available') return 'onDevice';
  return choice === 'online' ? 'online' : undefined;
}

interface ListenOptions {
  readonly language: string;
  readonly mode: RecognitionMode;
  readonly signal: AbortSignal;
  /** Called with all text recognized so far. */
  readonly onText: (text: string) => void;
}

/**
 * Listens until the signal aborts or the browser ends the recognition. Rejects with the code of the browser, such as
 * `not-allowed`.
 */
export function listen({ language, mode, signal, onText }: ListenOptions): Promise<void> {
  const RecognitionConstructor = findRecognitionClass();
  if (RecognitionConstructor === undefined) return Promise.resolve();
  const recognition = new RecognitionConstructor();
  Object.assign(recognition, { lang: language, continuous: true, interimResults: true });
  if (mode === 'onDevice') recognition.processLocally = true;
  return new Promise((resolve, reject) => {
    recognition.addEventListener('result', (event) => {
      const pieces = Array.from((event as RecognitionResultEvent).results, (guesses) => guesses[0]?.transcript.trim() ?? '');
      if (!signal.aborted) onText(pieces.filter((piece) => piece !== '').join(' '));
    });
    recognition.addEventListener('error', (event) => reject(new Error((event as Event & { error: string }).error)));
    recognition.addEventListener('end', () => resolve());
    signal.addEventListener('abort', () => recognition.stop());
    recognition.start();
  });
}
