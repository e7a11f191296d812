/** What this page uses of the browser's speech recognition; not all that browsers have of it is in the types of the DOM. */
interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  /** Whether nothing leaves this machine; browsers that do not know it ignore it. */
  processLocally?: boolean;
  start(): void;
  stop(): void;
}

interface RecognitionClass {
  new (): Recognition;
  available?(options: { readonly langs: readonly string[]; readonly processLocally: boolean }): Promise<string>;
}

/** Of an event `result`: everything that was heard, best guess first. */
interface RecognitionResultEvent extends Event {
  readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }>>;
}

/** Where speech becomes text: on this machine, or with the maker of the browser. */
export type RecognitionMode = 'machine' | 'maker';

/** Where the user lets it become text: nowhere unless they said so. */
export type DictationChoice = 'off' | RecognitionMode;

const storageKey = 'parley dictation';

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
  const stored = localStorage.getItem(storageKey);
  return canRecognizeSpeech() && (stored === 'machine' || stored === 'maker') ? stored : 'off';
}

export function chooseDictation(choice: DictationChoice): void {
  localStorage.setItem(storageKey, choice);
  // Other tabs hear of it by themselves.
  dispatchEvent(new StorageEvent('storage', { key: storageKey }));
}

/** Calls back when the user chose otherwise, here or in another tab, until what is returned is called. */
export function onDictationChange(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent): unknown => key === storageKey && listener();
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

/** Where a language would be heard; undefined where it may not, or cannot be. Browsers without the service behind it may fail badly when asked, so nobody is asked who did not choose it. */
export async function findRecognitionMode(language: string): Promise<RecognitionMode | undefined> {
  const recognitionClass = findRecognitionClass();
  const choice = readDictation();
  if (recognitionClass === undefined || choice === 'off') return undefined;
  const options = { langs: [language], processLocally: true };
  const availability = await recognitionClass.available?.(options).catch(() => undefined);
  if (availability === 'available') return 'machine';
  return choice === 'maker' ? 'maker' : undefined;
}

interface ListenOptions {
  readonly language: string;
  readonly mode: RecognitionMode;
  readonly signal: AbortSignal;
  /** Called with everything that was understood so far. */
  readonly onText: (text: string) => void;
}

/** Listens until the signal comes, or the browser ends it. Rejects with the browser's code, such as `not-allowed`. */
export function listen({ language, mode, signal, onText }: ListenOptions): Promise<void> {
  const RecognitionConstructor = findRecognitionClass();
  if (RecognitionConstructor === undefined) return Promise.resolve();
  const recognition = new RecognitionConstructor();
  Object.assign(recognition, { lang: language, continuous: true, interimResults: true });
  if (mode === 'machine') recognition.processLocally = true;
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
