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

interface RecognitionMaker {
  new (): Recognition;
  available?(asked: { readonly langs: readonly string[]; readonly processLocally: boolean }): Promise<string>;
}

/** Of an event `result`: everything that was heard, best guess first. */
interface Heard extends Event {
  readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }>>;
}

/** Where speech becomes text: on this machine, or with the maker of the browser. */
export type Hearing = 'machine' | 'maker';

/** Where the user lets it become text: nowhere unless they said so. */
export type DictationChoice = 'off' | Hearing;

const keptAs = 'parley dictation';

function findMaker(): RecognitionMaker | undefined {
  const { SpeechRecognition: own, webkitSpeechRecognition: older } = globalThis as {
    SpeechRecognition?: RecognitionMaker;
    webkitSpeechRecognition?: RecognitionMaker;
  };
  return own ?? older;
}

export function canHear(): boolean {
  return findMaker() !== undefined;
}

export function readDictation(): DictationChoice {
  const kept = localStorage.getItem(keptAs);
  return canHear() && (kept === 'machine' || kept === 'maker') ? kept : 'off';
}

export function chooseDictation(choice: DictationChoice): void {
  localStorage.setItem(keptAs, choice);
  // Other tabs hear of it by themselves.
  dispatchEvent(new StorageEvent('storage', { key: keptAs }));
}

/** Calls back when the user chose otherwise, here or in another tab, until what is returned is called. */
export function onChosen(hear: () => void): () => void {
  const look = ({ key }: StorageEvent): unknown => key === keptAs && hear();
  addEventListener('storage', look);
  return () => removeEventListener('storage', look);
}

/** Where a language would be heard; undefined where it may not, or cannot be. Browsers without the service behind it may fail badly when asked, so nobody is asked who did not choose it. */
export async function findHearing(language: string): Promise<Hearing | undefined> {
  const maker = findMaker();
  const choice = readDictation();
  if (maker === undefined || choice === 'off') return undefined;
  const asked = { langs: [language], processLocally: true };
  const found = await maker.available?.(asked).catch(() => undefined);
  if (found === 'available') return 'machine';
  return choice === 'maker' ? 'maker' : undefined;
}

interface Listening {
  readonly language: string;
  readonly hearing: Hearing;
  readonly signal: AbortSignal;
  /** Called with everything that was understood so far. */
  readonly tell: (text: string) => void;
}

/** Listens until the signal comes, or the browser ends it. Rejects with the browser's code, such as `not-allowed`. */
export function listen({ language, hearing, signal, tell }: Listening): Promise<void> {
  const Maker = findMaker();
  if (Maker === undefined) return Promise.resolve();
  const recognition = new Maker();
  Object.assign(recognition, { lang: language, continuous: true, interimResults: true });
  if (hearing === 'machine') recognition.processLocally = true;
  return new Promise((resolve, reject) => {
    recognition.addEventListener('result', (event) => {
      const pieces = Array.from((event as Heard).results, (guesses) => guesses[0]?.transcript.trim() ?? '');
      if (!signal.aborted) tell(pieces.filter((piece) => piece !== '').join(' '));
    });
    recognition.addEventListener('error', (event) => reject(new Error((event as Event & { error: string }).error)));
    recognition.addEventListener('end', () => resolve());
    signal.addEventListener('abort', () => recognition.stop());
    recognition.start();
  });
}
